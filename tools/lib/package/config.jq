# The configuration of the image.
{
  created: $time,
  author: "The AccountLedger authors",
  architecture: $architecture,
  os: "linux",
  config: {
    User: $user,
    ExposedPorts: {"8080/tcp": {}, "9090/tcp": {}},
    Env: [
      "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
      "HOME=/var/lib/account-ledger",
      "TMPDIR=/var/lib/account-ledger",
      "LEDGER_LISTEN=0.0.0.0:8080",
      "LEDGER_ADMIN_LISTEN=0.0.0.0:9090",
      "LEDGER_KEYS=/var/lib/account-ledger/keys"
    ],
    Entrypoint: ["/usr/bin/account-ledger"],
    Cmd: ["serve"],
    Volumes: {"/var/lib/account-ledger": {}},
    WorkingDir: "/var/lib/account-ledger",
    StopSignal: "SIGTERM",
    Labels: {
      "org.opencontainers.image.title": "account-ledger",
      "org.opencontainers.image.description": "event-sourced ledger of sign-in identities",
      "org.opencontainers.image.version": $version,
      "org.opencontainers.image.revision": $revision,
      "org.opencontainers.image.created": $time,
      "org.opencontainers.image.licenses": "MIT"
    }
  },
  rootfs: {type: "layers", diff_ids: [$diff]},
  history: [{created: $time, created_by: "tools/package", comment: "Debian packages and account-ledger"}]
}

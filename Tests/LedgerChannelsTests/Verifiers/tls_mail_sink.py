"""A mail server on 127.0.0.1 with TLS: prints its port, and a line of JSON for each message.

    tls_mail_sink.py starttls|smtps|early CERTIFICATE KEY

It offers SMTPUTF8 over TLS; with `early`, which is STARTTLS, only before TLS.
"""
import json
import socket
import ssl
import sys
import threading

mode, certificate, key = sys.argv[1:]
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(certificate, key)


def serve(connection):
    is_secure = mode == "smtps"
    if is_secure:
        connection = context.wrap_socket(connection, server_side=True)
    stream = connection.makefile("rwb")

    def answer(text):
        stream.write(text.encode() + b"\r\n")
        stream.flush()

    answer("220 sink")
    while line := stream.readline():
        verb = line.split()[0].upper().split(b":")[0]
        if verb == b"EHLO":
            answer("250-sink")
            if is_secure != (mode == "early"):
                answer("250-SMTPUTF8")
            answer("250 AUTH PLAIN" if is_secure else "250 STARTTLS")
        elif verb == b"STARTTLS":
            answer("220 go on")
            connection = context.wrap_socket(connection, server_side=True)
            stream, is_secure = connection.makefile("rwb"), True
        elif verb == b"AUTH":
            if len(line.split()) == 2:
                answer("334 ")
                stream.readline()
            answer("235 OK")
        elif verb == b"DATA":
            answer("354 go on")
            lines = []
            while (line := stream.readline()) != b".\r\n":
                lines.append(line.decode())
            print(json.dumps({"secure": is_secure, "content": "".join(lines)}), flush=True)
            answer("250 OK")
        elif verb == b"QUIT":
            answer("221 bye")
            return
        else:
            answer("250 OK")


def run(connection):
    try:
        serve(connection)
    except OSError:
        pass
    finally:
        connection.close()


listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
while True:
    threading.Thread(target=run, args=(listener.accept()[0],), daemon=True).start()

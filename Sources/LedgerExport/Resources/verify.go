// Verifies the entries of an unpacked bundle with Go's golang.org/x/mod/sumdb.
//
//	go run verify.go DIRECTORY VKEY
//
// Opens checkpoint.txt with the key, then recomputes the root of all entries, or checks the proof of
// each entry where the bundle is one account's.
package main

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

type line struct {
	Position string   `json:"position"`
	Entry    []byte   `json:"entry"`
	Path     []string `json:"path"`
}

func fail(format string, values ...interface{}) {
	fmt.Printf("DOES NOT HOLD: "+format+"\n", values...)
	os.Exit(1)
}

func must(err error) {
	if err != nil {
		fail("%v", err)
	}
}

func main() {
	directory, vkey := os.Args[1], os.Args[2]
	verifier, err := note.NewVerifier(vkey)
	must(err)
	signed, err := os.ReadFile(filepath.Join(directory, "checkpoint.txt"))
	must(err)
	opened, err := note.Open(signed, note.VerifierList(verifier))
	must(err)
	// Not tlog.ParseTree: it knows the origin of Go's own log only.
	lines := strings.Split(opened.Text, "\n")
	if len(lines) < 4 || lines[0] != verifier.Name() {
		fail("checkpoint.txt is another log's")
	}
	size, err := strconv.ParseInt(lines[1], 10, 64)
	must(err)
	root, err := tlog.ParseHash(lines[2])
	must(err)

	var stored []tlog.Hash
	reader := tlog.HashReaderFunc(func(indexes []int64) (hashes []tlog.Hash, err error) {
		for _, index := range indexes {
			hashes = append(hashes, stored[index])
		}
		return hashes, nil
	})
	head, err := os.ReadFile(filepath.Join(directory, "bundle.json"))
	must(err)
	var about struct {
		Scope string `json:"scope"`
	}
	must(json.Unmarshal(head, &about))
	isWhole := about.Scope == "all"
	files, err := filepath.Glob(filepath.Join(directory, "entries", "*.jsonl"))
	must(err)
	sort.Strings(files)
	events := int64(0)
	for _, name := range files {
		file, err := os.Open(name)
		must(err)
		scanner := bufio.NewScanner(file)
		scanner.Buffer(nil, 1<<20)
		for scanner.Scan() {
			var event line
			must(json.Unmarshal(scanner.Bytes(), &event))
			position, err := strconv.ParseInt(event.Position, 10, 64)
			must(err)
			if isWhole {
				if position != events {
					fail("position %d: the entry is missing", events)
				}
				hashes, err := tlog.StoredHashes(position, event.Entry, reader)
				must(err)
				stored = append(stored, hashes...)
			} else {
				var proof tlog.RecordProof
				for _, text := range event.Path {
					hash, err := base64.StdEncoding.DecodeString(text)
					must(err)
					var copied tlog.Hash
					copy(copied[:], hash)
					proof = append(proof, copied)
				}
				err := tlog.CheckRecord(proof, size, root, position, tlog.RecordHash(event.Entry))
				if err != nil {
					fail("position %d: %v", position, err)
				}
			}
			events++
		}
		must(scanner.Err())
		must(file.Close())
	}
	if isWhole {
		recomputed, err := tlog.TreeHash(events, reader)
		must(err)
		if events != size || recomputed != root {
			fail("the root of %d entries is not the one that was signed for %d", events, size)
		}
	}
	fmt.Printf("%d entries of %s hold against its checkpoint of %d\n", events, verifier.Name(), size)
}

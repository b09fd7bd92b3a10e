// Verifies the entries of an unpacked bundle with Go's golang.org/x/mod/sumdb.
//
//	go run verify.go DIRECTORY VKEY
//
// Verifies checkpoint.txt with the key, then recomputes the root of all entries or, in the bundle of one
// account, checks the proof of each entry; then the position that each entry states, and seq and
// prev of its accounts. Does not check times, disclosures, older checkpoints and the manifest.
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

// The position that an entry states.
type place struct {
	Position string `json:"position"`
	Accounts []struct {
		ID   string  `json:"id"`
		Prev *string `json:"prev"`
		Seq  string  `json:"seq"`
	} `json:"accounts"`
}

// The end of an account's history so far.
type tail struct {
	next int64
	leaf string
}

// Checks the histories that an entry belongs to: all, or that of one account.
func follow(tails map[string]tail, entry []byte, position int64, account string) {
	var said place
	if err := json.Unmarshal(entry, &said); err != nil {
		fail("position %d: %v", position, err)
	}
	if said.Position != strconv.FormatInt(position, 10) {
		fail("position %d: the entry states another position", position)
	}
	leaf := tlog.RecordHash(entry)
	isTouched := false
	for _, touched := range said.Accounts {
		if account != "" && touched.ID != account {
			continue
		}
		isTouched = true
		before, isKnown := tails[touched.ID]
		if touched.Seq != strconv.FormatInt(before.next, 10) {
			fail("position %d: seq of account %s is not %d", position, touched.ID, before.next)
		}
		if isKnown != (touched.Prev != nil) || isKnown && *touched.Prev != before.leaf {
			fail("position %d: prev of account %s is not its previous entry", position, touched.ID)
		}
		tails[touched.ID] = tail{before.next + 1, base64.RawURLEncoding.EncodeToString(leaf[:])}
	}
	if account != "" && !isTouched {
		fail("position %d: the entry does not touch the account", position)
	}
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
	// Not tlog.ParseTree, which accepts only the origin of Go's own log.
	lines := strings.Split(opened.Text, "\n")
	if len(lines) < 4 || lines[0] != verifier.Name() {
		fail("checkpoint.txt is of another log")
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
		Scope   string `json:"scope"`
		Account string `json:"account"`
	}
	must(json.Unmarshal(head, &about))
	isWhole := about.Scope == "all"
	if isWhole != (about.Account == "") {
		fail("bundle.json states another scope")
	}
	files, err := filepath.Glob(filepath.Join(directory, "entries", "*.jsonl"))
	must(err)
	sort.Strings(files)
	events, last := int64(0), int64(-1)
	tails := map[string]tail{}
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
			if position <= last {
				fail("position %d: the entries are not in order", position)
			}
			follow(tails, event.Entry, position, about.Account)
			events, last = events+1, position
		}
		must(scanner.Err())
		must(file.Close())
	}
	if isWhole {
		recomputed, err := tlog.TreeHash(events, reader)
		must(err)
		if events != size || recomputed != root {
			fail("the root of %d entries is not the signed root of %d", events, size)
		}
	}
	fmt.Printf("%d entries of %s hold against its checkpoint of %d\n", events, verifier.Name(), size)
	if !isWhole {
		fmt.Printf("without a gap up to position %d; that no later entry of the account follows is not proved\n", last)
	}
}

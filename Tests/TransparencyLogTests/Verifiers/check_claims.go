// Checks claims about trees and notes with golang.org/x/mod/sumdb, which is not ours.
//
//	check_claims CLAIMS
//
// Each line of the file is a claim as JSON; "valid" says whether it has to hold. Prints how many
// claims of each kind it found to be what they say, and ends with 1 at the first one that is not.
package main

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

type claim struct {
	Kind     string   `json:"kind"`
	Valid    bool     `json:"valid"`
	Position int64    `json:"position"`
	Size     int64    `json:"size"`
	Old      int64    `json:"old"`
	Entry    []byte   `json:"entry"`
	Entries  [][]byte `json:"entries"`
	Path     []string `json:"path"`
	Root     string   `json:"root"`
	OldRoot  string   `json:"old_root"`
	Note     string   `json:"note"`
	Key      string   `json:"key"`
}

func hash(text string) (hash tlog.Hash) {
	bytes, err := hex.DecodeString(text)
	if err != nil || len(bytes) != len(hash) {
		panic("no hash: " + text)
	}
	copy(hash[:], bytes)
	return hash
}

func hashes(texts []string) (list []tlog.Hash) {
	for _, text := range texts {
		list = append(list, hash(text))
	}
	return list
}

// The stored hashes of the entries, each at its index, and the root over them.
func (c claim) stored() error {
	var stored []tlog.Hash
	reader := tlog.HashReaderFunc(func(indexes []int64) (list []tlog.Hash, err error) {
		for _, index := range indexes {
			list = append(list, stored[index])
		}
		return list, nil
	})
	for position, entry := range c.Entries {
		added, err := tlog.StoredHashes(int64(position), entry, reader)
		if err != nil {
			return err
		}
		stored = append(stored, added...)
	}
	theirs := hashes(c.Path)
	if len(stored) != len(theirs) {
		return fmt.Errorf("%d stored hashes instead of %d", len(theirs), len(stored))
	}
	for index := range stored {
		if stored[index] != theirs[index] {
			return fmt.Errorf("another stored hash at %d", index)
		}
	}
	root, err := tlog.TreeHash(int64(len(c.Entries)), reader)
	if err == nil && root != hash(c.Root) {
		err = fmt.Errorf("another root")
	}
	return err
}

// A checkpoint: a note that the key has signed, with a root of base64 on its third line.
func (c claim) checkpoint() error {
	verifier, err := note.NewVerifier(c.Key)
	if err != nil {
		return err
	}
	opened, err := note.Open([]byte(c.Note), note.VerifierList(verifier))
	if err != nil {
		return err
	}
	lines := strings.Split(opened.Text, "\n")
	root, err := base64.StdEncoding.DecodeString(lines[2])
	if err != nil {
		return err
	}
	wanted := hash(c.Root)
	if lines[0] != verifier.Name() || lines[1] != fmt.Sprint(c.Size) || !bytes.Equal(root, wanted[:]) {
		return fmt.Errorf("another checkpoint")
	}
	return nil
}

func (c claim) check() error {
	switch c.Kind {
	case "inclusion":
		return tlog.CheckRecord(
			hashes(c.Path), c.Size, hash(c.Root), c.Position, tlog.RecordHash(c.Entry))
	case "consistency":
		return tlog.CheckTree(hashes(c.Path), c.Size, hash(c.Root), c.Old, hash(c.OldRoot))
	case "stored":
		return c.stored()
	case "note":
		return c.checkpoint()
	}
	panic("no kind of claim: " + c.Kind)
}

func main() {
	file, err := os.Open(os.Args[1])
	if err != nil {
		panic(err)
	}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<26)
	counts := map[string]int{}
	for lines.Scan() {
		var c claim
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			panic(err)
		}
		if err := c.check(); (err == nil) != c.Valid {
			fmt.Fprintf(os.Stderr, "not what it says (%v): %s\n", err, lines.Text())
			os.Exit(1)
		}
		if c.Valid {
			counts[c.Kind+" valid"]++
		} else {
			counts[c.Kind+" invalid"]++
		}
	}
	if err := lines.Err(); err != nil {
		panic(err)
	}
	var kinds []string
	for kind := range counts {
		kinds = append(kinds, kind)
	}
	sort.Strings(kinds)
	for _, kind := range kinds {
		fmt.Println(kind, counts[kind])
	}
}

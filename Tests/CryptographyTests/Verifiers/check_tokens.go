// Checks private keys and tokens with Go's own cryptography.
//
//	check_tokens FILE
//
// Each JSON object of the file has a private JWK, an algorithm, tokens of this key and forged ones.
// Prints a token of Go's own by each key, and ends with 2 at the first key whose members do not match,
// good token that is refused or forged one that is accepted.
package main

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	_ "crypto/sha256"
	_ "crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"os"
	"strings"
)

type claim struct {
	JWK       map[string]string `json:"jwk"`
	Algorithm string            `json:"algorithm"`
	Tokens    []string          `json:"tokens"`
	Forged    []string          `json:"forged"`
}

var base64url = base64.RawURLEncoding.Strict()

var hashes = map[string]crypto.Hash{
	"ES256": crypto.SHA256, "RS256": crypto.SHA256, "RS384": crypto.SHA384,
	"RS512": crypto.SHA512, "PS256": crypto.SHA256,
}

var pssOptions = &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash}

func must(holds bool, complaint ...any) {
	if !holds {
		panic(fmt.Sprint(complaint...))
	}
}

func decode(text string) []byte {
	bytes, err := base64url.DecodeString(text)
	must(err == nil, "no base64url: ", text)
	return bytes
}

// The number of a member; on P-256 it has 32 bytes, and else no leading zeros.
func (c claim) number(name string) *big.Int {
	bytes := decode(c.JWK[name])
	if c.JWK["kty"] == "EC" {
		must(len(bytes) == 32, name, " has ", len(bytes), " bytes")
	} else {
		must(len(bytes) > 0 && bytes[0] != 0, name, " has leading zeros")
	}
	return new(big.Int).SetBytes(bytes)
}

func (c claim) p256() *ecdsa.PrivateKey {
	key := &ecdsa.PrivateKey{D: c.number("d")}
	key.Curve, key.X, key.Y = elliptic.P256(), c.number("x"), c.number("y")
	x, y := key.Curve.ScalarBaseMult(key.D.Bytes())
	must(c.JWK["crv"] == "P-256" && x.Cmp(key.X) == 0 && y.Cmp(key.Y) == 0, "not the point of d")
	return key
}

func (c claim) rsa() *rsa.PrivateKey {
	key := &rsa.PrivateKey{D: c.number("d"), Primes: []*big.Int{c.number("p"), c.number("q")}}
	key.N, key.E = c.number("n"), int(c.number("e").Int64())
	must(key.Validate() == nil, "the primes do not match n, e and d")
	key.Precompute()
	must(key.Precomputed.Dp.Cmp(c.number("dp")) == 0, "another dp")
	must(key.Precomputed.Dq.Cmp(c.number("dq")) == 0, "another dq")
	must(key.Precomputed.Qinv.Cmp(c.number("qi")) == 0, "another qi")
	return key
}

func verifies(key crypto.Signer, algorithm string, digest, signature []byte) bool {
	hash := hashes[algorithm]
	switch public := key.Public().(type) {
	case *ecdsa.PublicKey:
		r, s := new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])
		return len(signature) == 64 && ecdsa.Verify(public, digest, r, s)
	case *rsa.PublicKey:
		if algorithm == "PS256" {
			return rsa.VerifyPSS(public, hash, digest, signature, pssOptions) == nil
		}
		return rsa.VerifyPKCS1v15(public, hash, digest, signature) == nil
	}
	return false
}

func sign(key crypto.Signer, algorithm string, digest []byte) (signature []byte, err error) {
	hash := hashes[algorithm]
	switch key := key.(type) {
	case *ecdsa.PrivateKey:
		r, s, err := ecdsa.Sign(rand.Reader, key, digest)
		must(err == nil, err)
		signature = make([]byte, 64)
		r.FillBytes(signature[:32])
		s.FillBytes(signature[32:])
		return signature, nil
	case *rsa.PrivateKey:
		if algorithm == "PS256" {
			return rsa.SignPSS(rand.Reader, key, hash, digest, pssOptions)
		}
		return rsa.SignPKCS1v15(rand.Reader, key, hash, digest)
	}
	return nil, io.EOF
}

func (c claim) digest(signed string) []byte {
	digest := hashes[c.Algorithm].New()
	digest.Write([]byte(signed))
	return digest.Sum(nil)
}

func (c claim) accepts(key crypto.Signer, token string) bool {
	parts := strings.Split(token, ".")
	var header struct {
		Algorithm string `json:"alg"`
	}
	must(len(parts) == 3 && json.Unmarshal(decode(parts[0]), &header) == nil, "no token: ", token)
	must(header.Algorithm == c.Algorithm, "a token by ", header.Algorithm)
	return verifies(key, c.Algorithm, c.digest(parts[0]+"."+parts[1]), decode(parts[2]))
}

func (c claim) check() {
	var key crypto.Signer
	if c.JWK["kty"] == "EC" {
		key = c.p256()
	} else {
		key = c.rsa()
	}
	for _, token := range c.Tokens {
		must(c.accepts(key, token), "refused: ", token)
	}
	for _, token := range c.Forged {
		must(!c.accepts(key, token), "accepted: ", token)
	}
	header := fmt.Sprintf(`{"alg":%q}`, c.Algorithm)
	signed := base64url.EncodeToString([]byte(header)) + "." + strings.Split(c.Tokens[0], ".")[1]
	signature, err := sign(key, c.Algorithm, c.digest(signed))
	must(err == nil, err)
	fmt.Println(signed + "." + base64url.EncodeToString(signature))
}

func main() {
	file, err := os.ReadFile(os.Args[1])
	must(err == nil, err)
	claims := json.NewDecoder(bytes.NewReader(file))
	for claims.More() {
		var c claim
		must(claims.Decode(&c) == nil, "no claim")
		c.check()
	}
}

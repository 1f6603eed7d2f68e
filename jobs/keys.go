package jobs

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/oklog/ulid/v2"
)

// Partitions is the number of hash slots jobs are spread over (design §3).
const Partitions = 64

const (
	idPrefix  = "job_"
	crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	idLength  = len(idPrefix) + ulid.EncodedSize + 2
)

// partitionOf is the partition of an owner's key: CRC16 over the
// length-prefixed owner and key, mod 64.
func partitionOf(owner, key string) int {
	return int(crc16(lengthPrefixed(owner, key)) % Partitions)
}

func lengthPrefixed(parts ...string) []byte {
	length := 0
	for _, part := range parts {
		length += 8 + len(part)
	}
	b := make([]byte, 0, length)
	for _, part := range parts {
		b = binary.BigEndian.AppendUint64(b, uint64(len(part)))
		b = append(b, part...)
	}
	return b
}

// crc16 is CRC-16/XMODEM, the one Redis Cluster hashes keys with.
func crc16(b []byte) uint16 {
	var crc uint16
	for _, c := range b {
		crc = crc<<8 ^ crcOfByte[byte(crc>>8)^c]
	}
	return crc
}

// crcOfByte is the checksum of every byte.
var crcOfByte = func() (table [256]uint16) {
	for i := range table {
		crc := uint16(i) << 8
		for range 8 {
			if crc&0x8000 != 0 {
				crc = crc<<1 ^ 0x1021
			} else {
				crc <<= 1
			}
		}
		table[i] = crc
	}
	return table
}()

// NewID makes the id of a new job for owner and key. It carries the partition,
// so that any process finds the job from its id alone.
func NewID(owner, key string) string { return newIDIn(partitionOf(owner, key)) }

func newIDIn(p int) string {
	return idPrefix + ulid.Make().String() + string(crockford[p/32]) + string(crockford[p%32])
}

// partitionOfID reads the partition out of a job id; false when id is not one.
func partitionOfID(id string) (int, bool) {
	if len(id) != idLength || !strings.HasPrefix(id, idPrefix) {
		return 0, false
	}
	for _, c := range id[len(idPrefix):] {
		if !strings.ContainsRune(crockford, c) {
			return 0, false
		}
	}
	high := strings.IndexByte(crockford, id[idLength-2])
	low := strings.IndexByte(crockford, id[idLength-1])
	p := high*32 + low
	return p, p < Partitions
}

// partitionOfKey reads the partition out of a key's hash tag.
func partitionOfKey(key string) (partition, bool) {
	_, rest, _ := strings.Cut(key, "{")
	tag, _, ok := strings.Cut(rest, "}")
	p, err := strconv.Atoi(tag)
	return partition(p), ok && err == nil && p >= 0 && p < Partitions
}

// NewOp makes the id of an operation: a command found with an id that its
// script has seen is answered again, not done again.
func NewOp() string {
	var b [10]byte
	_, _ = rand.Read(b[:])
	return base32.StdEncoding.EncodeToString(b[:])
}

func sha256Hex(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// OwnerHash names an owner in keys; 128 bits are plenty to keep owners apart.
func OwnerHash(owner string) string { return sha256Short([]byte(owner))[:22] }

func keyHash(owner, key string) string { return sha256Short(lengthPrefixed(owner, key)) }

// sha256Short is a digest in 43 characters: names are kept a million times.
func sha256Short(b []byte) string {
	sum := sha256.Sum256(b)
	return string(base64.RawURLEncoding.AppendEncode(make([]byte, 0, 48), sum[:]))
}

// partition gives the names of a partition's keys.
type partition int

// prefixes are what those of every partition begin with.
var prefixes = func() (of [Partitions]string) {
	for p := range of {
		of[p] = "oj:{" + strconv.Itoa(p) + "}:"
	}
	return of
}()

func (p partition) prefix() string           { return prefixes[p] }
func (p partition) due() string              { return p.prefix() + "due" }
func (p partition) seq() string              { return p.prefix() + "seq" }
func (p partition) job(id string) string     { return p.prefix() + "job:" + id }
func (p partition) key(hash string) string   { return p.prefix() + "key:" + hash }
func (p partition) state(s State) string     { return p.prefix() + "state:" + string(s) }
func (p partition) owner(hash string) string { return p.prefix() + "owner:" + hash }
func (p partition) open() string             { return p.prefix() + "open" }
func (p partition) webhooks() string         { return p.prefix() + "webhooks" }

// verbKeys are KEYS 1 to 3 of every verb (lua/record.lua).
func (p partition) verbKeys(id string) []string {
	return append(make([]string, 0, 4), p.job(id), p.due(), p.seq()) // submit has one more
}

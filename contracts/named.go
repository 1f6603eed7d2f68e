package contracts

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"unicode/utf8"
)

const fileScheme = "file://"

// fileOr returns the content of the file that s names, or s when it names none.
// Only files in the contract's own folder or below are read (design §6: paths are
// relative to the file that names them), so a contract cannot reach further.
func (r reader) fileOr(path, s string) (string, bool) {
	name, ok := strings.CutPrefix(s, fileScheme)
	if !ok {
		return s, true
	}
	name = strings.TrimPrefix(name, "./")
	if !fs.ValidPath(name) || strings.Contains(name, `\`) {
		r.add(path, clip(s)+" leaves the folder of the contract", "name a file in it or below: file://schemas/summary.json")
		return "", false
	}
	if r.files == nil {
		r.add(path, clip(s)+" cannot be read here", "write the value out")
		return "", false
	}
	text, err := readNamed(r.files, name)
	if err != nil {
		r.add(path, fmt.Sprintf("%s: %v", clip(s), err), "want a readable UTF-8 file of at most 1 MiB")
		return "", false
	}
	r.named[name] = text
	return text, true
}

func readNamed(files fs.FS, name string) (string, error) {
	file, err := files.Open(name)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return "", errors.New("there is no such file")
		}
		return "", errors.New("it cannot be opened")
	}
	defer func() { _ = file.Close() }()
	data, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	switch {
	case err != nil:
		return "", errors.New("it cannot be read")
	case len(data) > maxFile:
		return "", errors.New("it is too large")
	case !utf8.Valid(data):
		return "", errors.New("it is not UTF-8")
	case len(data) == 0:
		return "", errors.New("it is empty")
	}
	return string(data), nil
}

package powercut_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// disk is what of the files below a folder is on the disk, as the system calls of a
// process say. Writes append; names are taken to be as they were when the power went.
type disk struct {
	dir    string
	size   map[string]int64 // as the process sees it
	synced map[string]int64 // as a power cut would leave it
	// begun are the syncs under way: what they cover, by thread.
	begun map[string]sync
}

type sync struct {
	path string
	size int64
}

// found is a disk with all that is in dir on it.
func found(dir string) (*disk, error) {
	d := &disk{dir: dir, size: map[string]int64{}, synced: map[string]int64{}, begun: map[string]sync{}}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			d.size[path], d.synced[path] = info.Size(), info.Size()
		}
		return err
	})
	return d, err
}

// Lines of strace -f -y: thread, call, arguments, result. A call that others interrupt
// is two lines.
var (
	whole      = regexp.MustCompile(`^(\d+) +(\w+)\((.*)\) += (-?\d+)`)
	unfinished = regexp.MustCompile(`^(\d+) +(\w+)\((.*) <unfinished \.\.\.>$`)
	resumed    = regexp.MustCompile(`^(\d+) +<\.\.\. (\w+) resumed>(.*)\) += (-?\d+)`)
	descriptor = regexp.MustCompile(`^\d+<([^>]*)>`)
	quoted     = regexp.MustCompile(`"([^"]*)"`)
)

// follow reads a trace.
func (d *disk) follow(trace io.Reader) error {
	lines := bufio.NewScanner(trace)
	lines.Buffer(nil, 1<<20)
	interrupted := map[string]string{} // thread → arguments
	for lines.Scan() {
		line := lines.Text()
		if m := unfinished.FindStringSubmatch(line); m != nil {
			interrupted[m[1]] = m[3]
			d.begin(m[1], m[2], m[3])
		} else if m := resumed.FindStringSubmatch(line); m != nil {
			if err := d.end(m[1], m[2], interrupted[m[1]]+m[3], m[4]); err != nil {
				return err
			}
		} else if m := whole.FindStringSubmatch(line); m != nil {
			d.begin(m[1], m[2], m[3])
			if err := d.end(m[1], m[2], m[3], m[4]); err != nil {
				return err
			}
		}
	}
	return lines.Err()
}

// begin: a sync covers what was written before it began.
func (d *disk) begin(thread, call, args string) {
	if path := d.path(args); path != "" && (call == "fsync" || call == "fdatasync") {
		d.begun[thread] = sync{path, d.size[path]}
	}
}

// path is the file of a descriptor, if it is one of those that are followed.
func (d *disk) path(args string) string {
	m := descriptor.FindStringSubmatch(args)
	if len(m) == 2 && strings.HasPrefix(m[1], d.dir+"/") {
		return m[1]
	}
	return ""
}

func (d *disk) named(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(d.dir, name)
}

// end is where a call has its effect, if it has one.
func (d *disk) end(thread, call, args, result string) error {
	n, err := strconv.ParseInt(result, 10, 64)
	if err != nil || n < 0 {
		return err
	}
	path, names := d.path(args), quoted.FindAllStringSubmatch(args, -1)
	switch call {
	case "write":
		if path != "" {
			d.size[path] += n
		}
	case "fsync", "fdatasync":
		if path != "" {
			done := d.begun[thread]
			if d.size[done.path] >= done.size { // not renamed or emptied meanwhile
				d.synced[done.path] = max(d.synced[done.path], done.size)
			}
		}
	case "openat":
		if strings.Contains(args, "O_TRUNC") && len(names) == 1 {
			d.size[d.named(names[0][1])], d.synced[d.named(names[0][1])] = 0, 0
		}
	case "rename", "renameat", "renameat2":
		if len(names) == 2 {
			d.rename(d.named(names[0][1]), d.named(names[1][1]))
		}
	case "truncate", "ftruncate":
		if path == "" && len(names) == 1 {
			path = d.named(names[0][1])
		}
		return d.truncate(path, args)
	case "pwrite64", "writev", "pwritev":
		if path != "" {
			return fmt.Errorf("redis-server wrote with %s, which nobody here follows", call)
		}
	}
	return nil
}

func (d *disk) rename(from, to string) {
	d.size[to], d.synced[to] = d.size[from], d.synced[from]
	delete(d.size, from)
	delete(d.synced, from)
}

func (d *disk) truncate(path, args string) error {
	if _, ok := d.size[path]; !ok {
		return nil
	}
	_, length, _ := strings.Cut(args, ", ")
	n, err := strconv.ParseInt(length, 10, 64)
	if err != nil {
		return fmt.Errorf("truncate(%s): %w", args, err)
	}
	d.size[path], d.synced[path] = n, min(n, d.synced[path])
	return nil
}

// cut leaves of the files in the folder what is on the disk. It returns how many bytes
// that took from them.
func (d *disk) cut() (int64, error) {
	var lost int64
	var errs []error
	for path, size := range d.size {
		info, err := os.Stat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue // removed
		case err != nil:
		case info.Size() < size:
			// What was cut short by the kill has not been written.
			err = fmt.Errorf("%s has %d bytes, and %d were written", path, info.Size(), size)
		case info.Size() > d.synced[path]:
			lost += info.Size() - d.synced[path]
			err = os.Truncate(path, d.synced[path])
		}
		errs = append(errs, err)
	}
	return lost, errors.Join(errs...)
}

// A made-up trace: a sync covers what was written before it began, of the file it was
// for, and nothing else does.
func TestDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d, err := found(dir)
	require.NoError(t, err)
	file := func(name string) string { return filepath.Join(dir, name) }
	trace := strings.ReplaceAll(`1  openat(AT_FDCWD<DIR>, "temp", O_WRONLY|O_CREAT|O_TRUNC, 0666) = 8<DIR/temp>
1  write(8<DIR/temp>, ""..., 89) = 89
1  fsync(8<DIR/temp>) = 0
1  rename("temp", "aof/base") = 0
1  write(9<DIR/aof/incr>, ""..., 100) = 100
1  write(1</dev/null>, ""..., 100) = 100
1  write(13<socket:[2703906]>, ""..., 5) = 5
3  fdatasync(9<DIR/aof/incr> <unfinished ...>
1  write(9<DIR/aof/incr>, ""..., 50 <unfinished ...>
1  <... write resumed>)          = 50
3  <... fdatasync resumed>)          = 0
1  write(9<DIR/aof/incr>, ""..., 7) = 7
3  fdatasync(9<DIR/aof/incr>) = -1 EIO (Input/output error)
3  fdatasync(9<DIR/aof/incr> <unfinished ...>
1  write(7<DIR/aof/other>, ""..., 20) = 20
1  truncate("DIR/aof/other", 12) = 0
1  fdatasync(7<DIR/aof/other>) = 0
3  +++ killed by SIGKILL +++
`, "DIR", dir)
	require.NoError(t, d.follow(strings.NewReader(trace)))
	require.Equal(t, map[string]int64{file("aof/base"): 89, file("aof/incr"): 157, file("aof/other"): 12}, d.size)
	require.Equal(t, int64(89), d.synced[file("aof/base")])
	require.Equal(t, int64(100), d.synced[file("aof/incr")])
	require.Equal(t, int64(12), d.synced[file("aof/other")])

	require.NoError(t, os.Mkdir(file("aof"), 0o700))
	for path, size := range d.size {
		require.NoError(t, os.WriteFile(path, make([]byte, size), 0o600))
	}
	lost, err := d.cut()
	require.NoError(t, err)
	require.Equal(t, int64(57), lost)
	again, err := found(dir)
	require.NoError(t, err)
	require.Equal(t, int64(100), again.synced[file("aof/incr")])
	require.Error(t, d.follow(strings.NewReader("1  pwrite64(9<"+dir+"/aof/incr>, \"\"..., 7, 0) = 7\n")), "it would be missed")
}

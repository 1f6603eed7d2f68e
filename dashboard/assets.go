package dashboard

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"
)

//go:embed static/*.css static/*.js static/*.svg static/vendor/*.js
var assetFiles embed.FS

// asset is a file every page may load. Its address carries a hash of its content,
// so that browsers keep it for ever and never show an old one.
type asset struct {
	file    string // as it is embedded
	url     string
	content []byte
}

var assets, assetsByURL = loadAssets()

func loadAssets() (byName, byURL map[string]*asset) {
	byName, byURL = map[string]*asset{}, map[string]*asset{}
	err := fs.WalkDir(assetFiles, "static", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := assetFiles.ReadFile(file)
		if err != nil {
			return err //nolint:wrapcheck // of an embedded file; the panic below shows it
		}
		sum := sha256.Sum256(content)
		name := strings.TrimPrefix(file, "static/")
		ext := path.Ext(name)
		a := &asset{
			file: file, content: content,
			url: Root + "/static/" + strings.TrimSuffix(name, ext) + "." + hex.EncodeToString(sum[:])[:12] + ext,
		}
		byName[name], byURL[a.url] = a, a
		return nil
	})
	if err != nil {
		panic(err) // the files are part of the binary
	}
	return byName, byURL
}

// assetURL is the address of a file below static.
func assetURL(name string) string { return assets[name].url }

// serveAsset needs no session: the login page is made of these files, too.
func serveAsset(w http.ResponseWriter, r *http.Request) {
	a, ok := assetsByURL[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	http.ServeContent(w, r, a.file, time.Time{}, bytes.NewReader(a.content))
}

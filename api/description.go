package api

import (
	_ "embed"
	"net/http"

	"github.com/labstack/echo/v4"
)

// Description is this API in OpenAPI 3.1, as served at /openapi.yaml. Tests hold
// it to what the server does.
//
//go:embed openapi.yaml
var Description []byte

func serveDescription(c echo.Context) error {
	return c.Blob(http.StatusOK, "application/yaml", Description) //nolint:wrapcheck // the client is gone (RFC 9512)
}

package openai

import (
	"net/http"
	"slices"
	"strings"

	"onejob/api"
)

// model is a route as OpenAI lists models. Routes have no date of birth.
type model struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	OwnedBy string `json:"owned_by"`
}

func modelOf(route string) model { return model{ID: route, Object: "model", OwnedBy: "onejob"} }

// listModels is GET /models: the routes.
func (d *Door) listModels(w http.ResponseWriter, r *http.Request) error {
	if _, err := d.api.Reader(w, r); err != nil {
		return err
	}
	listed := struct {
		Object string  `json:"object"`
		Data   []model `json:"data"`
	}{Object: "list", Data: []model{}}
	for _, route := range d.config.Routes {
		listed.Data = append(listed.Data, modelOf(route))
	}
	return d.show(w, listed)
}

// showModel is GET /models/{id}.
func (d *Door) showModel(w http.ResponseWriter, r *http.Request, id string) error {
	if _, err := d.api.Reader(w, r); err != nil {
		return err
	}
	if !slices.Contains(d.config.Routes, id) {
		p := api.NewProblem("route-unknown", "The route %q is not configured.", clip(id))
		p.Field = "route"
		return p
	}
	return d.show(w, modelOf(id))
}

func (d *Door) show(w http.ResponseWriter, v any) error {
	body, err := encode(v)
	if err != nil {
		return err
	}
	return send(w, http.StatusOK, body)
}

// models says which models there are.
func (d *Door) models() string {
	return "The models of this server are its routes: " + strings.Join(d.config.Routes, ", ") + "."
}

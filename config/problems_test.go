package config

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAllMistakesAtOnce(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/mistakes.yaml")
	require.NoError(t, err)
	c, err := Parse("mistakes.yaml", data, nil)
	require.Nil(t, c)
	got := err.Error()
	require.NotContains(t, got, "hunter2", "secrets are not repeated")
	golden(t, "testdata/mistakes.golden", got+"\n")
}

// Each of these is one mistake in a file that is right otherwise, and gives one
// problem: the rest of the line after the file's name and line.
func TestOneMistake(t *testing.T) {
	t.Parallel()
	const duration = "; want a duration with a unit, such as 400ms, 10s or 72h"
	tests := map[string]struct{ more, want string }{
		"unknown key":            {`verbose: true`, `verbose: unknown key; allowed: beat, certificates, dashboard, drain, lease, limits, providers, redis, retention, routes, server, tracing, webhooks`},
		"misspelt key":           {`retension: {}`, `retension: unknown key; did you mean retention? allowed: beat, certificates, dashboard, drain, lease, limits, providers, redis, retention, routes, server, tracing, webhooks`},
		"key in capitals":        {`Drain: 1s`, `Drain: unknown key; did you mean drain? allowed: beat, certificates, dashboard, drain, lease, limits, providers, redis, retention, routes, server, tracing, webhooks`},
		"section is a list":      {`redis: []`, `redis: is a list; want a mapping`},
		"section is text":        {`redis: x`, `redis: is text; want a mapping`},
		"section is empty":       {`redis:`, `redis: is empty; want a mapping`},
		"number for text":        {`redis: {url: 1}`, `redis.url: is a number; want text: put it in quotes`},
		"truth value for text":   {`redis: {url: true}`, `redis.url: is a truth value; want text: put it in quotes`},
		"date for text":          {`redis: {url: 2026-01-01}`, `redis.url: is a date; want text: put it in quotes`},
		"mapping for text":       {`redis: {url: {}}`, `redis.url: is a mapping; want text`},
		"nothing for text":       {`redis: {url: }`, `redis.url: is empty; want text`},
		"empty text":             {`redis: {url: ""}`, `redis.url: is empty; give it a value, or leave the key out`},
		"durability":             {`redis: {durability: fsink}`, `redis.durability: "fsink" is not known; did you mean fsync? allowed: any, fsync`},
		"negative replicas":      {`redis: {wait_replicas: -1}`, `redis.wait_replicas: "-1" is out of range; want a number from 0 to 10000`},
		"half a replica":         {`redis: {wait_replicas: 0.5}`, `redis.wait_replicas: "0.5" is not a whole number; want a number from 0 to 10000`},
		"number in quotes":       {`redis: {wait_replicas: "1"}`, `redis.wait_replicas: "1" is not a whole number; want a number from 0 to 10000`},
		"huge number":            {`redis: {wait_replicas: 99999999999999999999}`, `redis.wait_replicas: "99999999999999999999" is not a whole number; want a number from 0 to 10000`},
		"no scheme":              {`redis: {url: "127.0.0.1:6379"}`, `redis.url: is not a URL (special characters in a password are written as %XX); want redis://[user:password@]host:port/db, rediss://… or unix://…`},
		"unknown redis option":   {`redis: {url: "redis://a:1?x=1"}`, `redis.url: is not a Redis URL (unexpected option: x); want redis://[user:password@]host:port/db, rediss://… or unix://…`},
		"no unit":                {`drain: 60`, `drain: "60" is not a duration` + duration},
		"unknown unit":           {`drain: 3d`, `drain: "3d" is not a duration` + duration},
		"no duration":            {`drain: [1s]`, `drain: is a list` + duration},
		"zero":                   {`drain: 0s`, `drain: "0s" is out of range; want at least 1ms and at most 87600h`},
		"less than Redis's ms":   {`drain: 999us`, `drain: "999us" is out of range; want at least 1ms and at most 87600h`},
		"negative":               {`drain: -1s`, `drain: "-1s" is out of range; want at least 1ms and at most 87600h`},
		"too long":               {`drain: 87601h`, `drain: "87601h" is out of range; want at least 1ms and at most 87600h`},
		"no port":                {`server: {addr: localhost}`, `server.addr: "localhost" is not an address; want host:port, such as 127.0.0.1:8080 or :8080`},
		"bad port":               {`server: {addr: ":65536"}`, `server.addr: ":65536" is not an address; want host:port, such as 127.0.0.1:8080 or :8080`},
		"admin where the API is": {`server: {addr: "127.0.0.1:9090", admin_addr: "127.0.0.1:9090"}`, `server.admin_addr: "127.0.0.1:9090" is where server.addr ("127.0.0.1:9090") listens, too; give it a port of its own`},
		"admin heard by the API": {`server: {addr: ":9090", admin_addr: "127.0.0.1:9090"}`, `server.admin_addr: "127.0.0.1:9090" is where server.addr (":9090") listens, too; give it a port of its own`},
		"admin hears the API":    {`server: {addr: "10.0.0.1:8080", admin_addr: "[::]:8080"}`, `server.admin_addr: "[::]:8080" is where server.addr ("10.0.0.1:8080") listens, too; give it a port of its own`},
		"bad admin port":         {`server: {admin_addr: ":x"}`, `server.admin_addr: ":x" is not an address; want host:port, such as 127.0.0.1:8080 or :8080`},
		"no requests":            {`limits: {requests_per_second: 0}`, `limits.requests_per_second: "0" is out of range; want a number from 1 to 1000000000`},
		"share of everybody":     {`limits: {share: 2}`, `limits.share: unknown key; allowed: burst, open_jobs, owners, requests_per_second`},
		"huge share":             {`limits: {owners: {acme: {share: 1001}}}`, `limits.owners.acme.share: "1001" is out of range; want a number from 1 to 1000`},
		"burst of nothing":       {`limits: {burst: 5}`, `limits.burst: there is no limit it is a burst of; give requests_per_second as well, or leave it out`},
		"owner with blanks":      {`limits: {owners: {"a b": {open_jobs: 5}}}`, `limits.owners.a b: not a name for an owner; want 1 to 128 visible ASCII characters without blanks, as in onejob keys create --owner`},
		"key before job":         {`retention: {job: 2h, key: 1h59m}`, `retention.key: 1h59m is less than retention.job (2h); a key is kept at least as long as its job`},
		"key before default":     {`retention: {job: 721h}`, `retention.key: 720h is less than retention.job (721h); a key is kept at least as long as its job`},
		"lease of two beats":     {`{lease: 14999ms}`, `lease: 14.999s is less than three beats of 5s; want 3 × beat ≤ lease`},
		"three beats too long":   {`beat: 5001ms`, `lease: 15s is less than three beats of 5.001s; want 3 × beat ≤ lease`},
		"two documents":          {"---\na: 1", `a second document; the file holds one YAML document`},
		"alias":                  {`redis: &r {url: "redis://a:1"}` + "\nserver: *r", `server: aliases are not read; write the value out`},
		"tag":                    {`drain: !!binary aGk=`, `drain: the tag "!!binary" is not known; leave it out`},
		"own tag":                {`drain: !own x`, `drain: the tag "!own" is not known; leave it out`},
		"twice":                  {"drain: 1s\ndrain: 2s", `drain: this key is here twice; keep one of it and of line 3`},
		"twice inside":           {`redis: {url: "redis://a:1", url: "redis://b:1"}`, `redis.url: this key is here twice; keep one of it and of line 3`},
		"merge key":              {`redis: {<<: {url: x}}`, `redis: a key that is not plain text; keys are names; merge keys (<<) are not read`},
		"key of nothing":         {`redis: {~: x}`, `redis: a key that is not plain text; keys are names; merge keys (<<) are not read`},
		"key of a list":          {`redis: {[a]: x}`, `redis: a key that is not plain text; keys are names; merge keys (<<) are not read`},
		"variable not there":     {`drain: ${GONE}`, `drain: the environment has no GONE; set it, or write the value into the file`},
		"variables not there":    {`drain: ${GONE}${SET}${AWAY}`, `drain: the environment has no GONE, AWAY; set it, or write the value into the file`},
		"reference left open":    {`drain: "${SET"`, `drain: ${ without a name and }; write ${NAME} for a variable, $${ for the characters ${`},
		"reference to no name":   {`drain: "${}"`, `drain: ${ without a name and }; write ${NAME} for a variable, $${ for the characters ${`},
		"bad variable":           {`drain: ${SET}`, `drain: "${SET}" is not a duration` + duration},
		"not a variable number":  {`redis: {wait_replicas: "${SET}"}`, `redis.wait_replicas: "${SET}" is not a whole number; want a number from 0 to 10000`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := small(test.more)
			if strings.HasPrefix(test.more, "{") {
				data = small(strings.Trim(test.more, "{}"))
			}
			_, err := Parse("x.yaml", data, environment(map[string]string{"SET": "secret"}), complete)
			requireOne(t, test.want, err)
		})
	}
}

func TestOneMistakeInAProvider(t *testing.T) {
	t.Parallel()
	const httpType = `type: http, url: "http://h:1/p"`
	const ai = `type: openai, api_key: k, model: m`
	const listed = "; it takes type, options, timeout, deadline, concurrency, settles_after, idempotent_create, breaker"
	const noURL = ` is not an absolute http or https URL; want http://host[:port]/path`
	tests := map[string]struct{ provider, want string }{
		"no type":            {``, `type: missing; allowed: anthropic, http, openai, replicate, simulated`},
		"unknown type":       {`type: simulate`, `type: "simulate" is not known; did you mean simulated? allowed: anthropic, http, openai, replicate, simulated`},
		"custom unannounced": {`type: mine`, `type: "mine" is not known; allowed: anthropic, http, openai, replicate, simulated`},
		"http without url":   {`type: http`, `url: missing; a provider of type http needs it`},
		"ai without model":   {`type: openai, api_key: k`, `model: missing; a provider of type openai needs it`},
		"no key for vendor":  {`type: openai, model: m`, `api_key: missing; https://api.openai.com/v1 needs one; or set base_url to a server of your own`},
		"no anthropic model": {`type: anthropic, api_key: k`, `model: missing; a provider of type anthropic needs it`},
		"no replicate model": {`type: replicate, api_key: k`, `model: missing; a provider of type replicate needs it`},
		"key of another":     {`type: simulated, model: m`, `model: a provider of type simulated does not take this key` + listed},
		"http api key":       {httpType + `, api_key: k`, `api_key: a provider of type http does not take this key` + listed + `, url, headers, lookup_url, cancel_url, handle_path, absent_proves, callback, body, result_path, error_path`},
		"misspelt required":  {`type: http, ulr: "http://h:1"`, `ulr: unknown key; did you mean url? allowed: absent_proves, api, api_key, base_url, body, breaker, callback, cancel_url, concurrency, deadline, error_path, handle_path, headers, idempotent_create, lookup_url, model, options, result_path, settles_after, timeout, type, url`},
		"unknown api":        {ai + `, api: chats`, `api: "chats" is not known; did you mean chat? allowed: chat, responses`},
		"relative url":       {`type: http, url: /p`, `url:` + noURL},
		"other scheme":       {`type: http, url: "ftp://h/p"`, `url:` + noURL},
		"no host":            {`type: http, url: "http:///p"`, `url:` + noURL},
		"fragment":           {`type: http, url: "http://h/p#x"`, `url:` + noURL},
		"bad base url":       {`type: openai, model: m, base_url: "h:1"`, `base_url:` + noURL},
		"placeholder":        {httpType + `, lookup_url: "http://h/{atempt}"`, `lookup_url: the placeholder "{atempt}" is not known; did you mean {attempt}? allowed: {attempt}, {handle}`},
		"handle in create":   {`type: http, url: "http://h/{handle}"`, `url: the placeholder "{handle}" is not known; allowed: {attempt}`},
		"open placeholder":   {httpType + `, cancel_url: "http://h/{attempt"`, `cancel_url: the placeholder "{attempt" is not known; did you mean {attempt}? allowed: {attempt}, {handle}`},
		"lookup of anything": {httpType + `, lookup_url: "http://h/"`, `lookup_url: does not say which attempt is meant; put {attempt} or {handle} into it`},
		"cancel of anything": {httpType + `, cancel_url: "http://h/"`, `cancel_url: does not say which attempt is meant; put {attempt} or {handle} into it`},
		"timeout":            {`type: simulated, timeout: 11s, deadline: 10s`, `timeout: 11s is longer than the deadline (10s); want timeout ≤ deadline`},
		"default timeout":    {`type: simulated, deadline: 9s`, `timeout: 10s is longer than the deadline (9s); want timeout ≤ deadline`},
		"settles too early":  {`type: simulated, deadline: 20s, settles_after: 34s`, `settles_after: 34s is less than deadline + lease (35s); until then an answer can still come`},
		"no window":          {`type: simulated, idempotent_create: {}`, `idempotent_create.window: missing; say for how long the provider dedupes, such as 24h`},
		"no concurrency":     {`type: simulated, concurrency: 0`, `concurrency: "0" is out of range; want a number from 1 to 10000`},
		"infinite option":    {`type: simulated, options: {a: {b: [1, .inf]}}`, `options.a.b[1]: ".inf" is no number in JSON; want a finite number`},
		"option twice":       {`type: simulated, options: {a: {b: 1, b: 2}}`, `options.a.b: this key is here twice; keep one of it and of line 1`},
		"option of messages": {ai + `, options: {messages: []}`, `options.messages: cannot be an option; messages come from the job, the model from the key model`},
		"option of model":    {ai + `, options: {model: n}`, `options.model: cannot be an option; messages come from the job, the model from the key model`},
		"header name":        {httpType + `, headers: {"X Y": z}`, `headers.X Y: not a name for a header; want letters, digits and -`},
		"header of ours":     {httpType + `, headers: {idempotency-KEY: z}`, `headers.idempotency-KEY: onejob sets this header itself; leave it out`},
		"header X-Onejob":    {httpType + `, headers: {X-Onejob-Job: z}`, `headers.X-Onejob-Job: onejob sets this header itself; leave it out`},
		"header of lines":    {httpType + `, headers: {X-A: "a\nb"}`, `headers.X-A: holds control characters; want one line of text`},
		"api key of lines":   {`type: openai, model: m, api_key: "k\n"`, `api_key: holds blanks or control characters; it is sent in a header: take line breaks and blanks around it away`},
		"api key of two":     {`type: openai, model: m, api_key: "k\nk"`, `api_key: holds blanks or control characters; it is sent in a header: take line breaks and blanks around it away`},
		"api key with blank": {`type: openai, model: m, api_key: " k"`, `api_key: holds blanks or control characters; it is sent in a header: take line breaks and blanks around it away`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := "providers: {a: {" + test.provider + "}}\nroutes: {r: {providers: [a]}}\n"
			_, err := Parse("x.yaml", []byte(data), nil, complete)
			requireOne(t, "providers.a."+test.want, err)
		})
	}
}

func TestOneMistakeInARoute(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ route, want string }{
		"no providers":      {``, `providers: missing; name at least one provider`},
		"empty list":        {`providers: []`, `providers: missing; name at least one provider`},
		"one without list":  {`providers: a`, `providers: is text; want a list: [one, two]`},
		"unknown provider":  {`providers: [a, inkjt]`, `providers[1]: "inkjt" is not a provider; did you mean inkjet? allowed: a, inkjet`},
		"provider twice":    {`providers: [a, inkjet, a]`, `providers[2]: "a" is here twice; name each provider once; tries says how often it is tried`},
		"number in list":    {`providers: [a, 1]`, `providers[1]: is a number; want text: put it in quotes`},
		"no tries":          {`providers: [a], tries: 0`, `tries: "0" is out of range; want a number from 1 to 10000`},
		"no attempts":       {`providers: [a], max_attempts: 0`, `max_attempts: "0" is out of range; want a number from 1 to 10000`},
		"backoff":           {`providers: [a], backoff: {initial: 2s, max: 1s}`, `backoff.max: 1s is shorter than backoff.initial (2s); want initial ≤ max`},
		"default backoff":   {`providers: [a], backoff: {initial: 31s}`, `backoff.max: 30s is shorter than backoff.initial (31s); want initial ≤ max`},
		"failover":          {`providers: [a], failover: never`, `failover: "never" is not known; allowed: certified, untested`},
		"effects":           {`providers: [a], effects: internal`, `effects: "internal" is not known; did you mean external? allowed: external, none`},
		"race with effects": {`providers: [a, inkjet], race: {after: 1s}`, `race: only a route with effects: none may race; declare effects: none, or take race out`},
		"race alone":        {`providers: [a], effects: none, race: {after: 1s}`, `race: there is nobody to race against; name a second provider`},
		"race without time": {`providers: [a, inkjet], effects: none, race: {}`, `race.after: missing; say how long after the suspicion the next provider joins in, such as 10s`},
		"empty contract":    {`providers: [a], contract: ""`, `contract: is empty; give it a value, or leave the key out`},
		"param twice":       {`providers: [a], params: [x, y, x]`, `params[2]: "x" is here twice; name each once`},
		"empty param":       {`providers: [a], params: [""]`, `params[0]: is empty; give it a value, or leave the key out`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := "providers: {a: {type: simulated}, inkjet: {type: simulated}}\nroutes: {r: {" + test.route + "}}\n"
			_, err := Parse("x.yaml", []byte(data), nil, complete)
			requireOne(t, "routes.r."+test.want, err)
		})
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	good := []string{"a", "0", "_", "-", "inkjet-2_b", strings.Repeat("x", 64)}
	bad := []string{"A", "a.b", "a b", "ü", "a/b", "a:b", "{a}", strings.Repeat("x", 65)}
	file := func(provider, route string) []byte {
		return []byte(`providers: {"` + provider + `": {type: simulated}}` + "\n" +
			`routes: {"` + route + `": {providers: ["` + provider + `"]}}` + "\n")
	}
	for _, name := range good {
		_, err := Parse("x.yaml", file(name, name), nil)
		require.NoError(t, err, name)
	}
	for _, name := range bad {
		_, err := Parse("x.yaml", file(name, "r"), nil)
		requireOne(t, "providers."+name+": not a name for a provider; want 1 to 64 of a-z, 0-9, _ and -", err)
		_, err = Parse("x.yaml", file("a", name), nil)
		requireOne(t, "routes."+name+": not a name for a route; want 1 to 64 of a-z, 0-9, _ and -", err)
	}
	for _, name := range []string{"webhooks", "operator"} {
		_, err := Parse("x.yaml", file(name, name), nil)
		requireOne(t, "providers."+name+": the name is taken by a queue of onejob's own; choose another name", err)
	}
}

func TestLines(t *testing.T) {
	t.Parallel()
	data := `# a comment

providers:
  a:
    type: simulated
    timeout: 5m
  b:

    deadline: 1m
routes:
  r:
    providers:
      - a
      - c
`
	_, err := Parse("dir/x.yaml", []byte(data), nil)
	require.Equal(t, []string{
		"dir/x.yaml:6: providers.a.timeout: 5m is longer than the deadline (1m); want timeout ≤ deadline",
		"dir/x.yaml:7: providers.b.type: missing; allowed: anthropic, http, openai, replicate, simulated",
		`dir/x.yaml:14: routes.r.providers[1]: "c" is not a provider; allowed: a, b`,
	}, problemsOf(t, err))
}

func TestNotAConfiguration(t *testing.T) {
	t.Parallel()
	const nothing = "x.yaml:1: providers: missing; at least one provider is needed\nx.yaml:1: routes: missing; at least one route is needed"
	tests := map[string]struct{ data, want string }{
		"empty":     {"", nothing},
		"a comment": {"# nothing\n", nothing},
		"a list":    {"[a]", "x.yaml:1: is a list; want a mapping\n" + nothing},
		"text":      {"hello", "x.yaml:1: is text; want a mapping\n" + nothing},
		"no YAML":   {"a: 1\nb: [1\nc: 2\n", "x.yaml:2: not YAML: did not find expected ',' or ']'; nothing after this could be read"},
		"tab":       {"a:\n\tb: 1\n", "x.yaml:2: not YAML: found character that cannot start any token; nothing after this could be read"},
		"bytes":     {"a: \xff\n", "x.yaml:1: not YAML: invalid leading UTF-8 octet; nothing after this could be read"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Parse("x.yaml", []byte(test.data), nil)
			require.Equal(t, strings.Split(test.want, "\n"), problemsOf(t, err))
		})
	}
}

// requireOne: there is exactly this problem, whatever its line.
func requireOne(t *testing.T, want string, err error) {
	t.Helper()
	got := problemsOf(t, err)
	require.Len(t, got, 1, "%v", err)
	_, got[0], _ = strings.Cut(got[0], " ")
	require.Equal(t, want, got[0])
	require.NotContains(t, got[0], "secret", "values of variables are not repeated")
}

// A repeated create must be the same to the byte (I2).
func TestRepeatDoesNotGoWithCallback(t *testing.T) {
	t.Parallel()
	_, err := Parse("x.yaml", []byte(`
server: {public_url: "https://jobs.example.com"}
providers:
  a: {type: http, url: "http://h:1", callback: true, idempotent_create: {window: 1h}}
routes: {r: {providers: [a]}}
`), nil)
	requireOne(t, "providers.a.idempotent_create: does not go with callback; a repeated create must be the same to the byte, "+
		"and a callback URL is made once; choose one", err)
}

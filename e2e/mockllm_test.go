package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	neturl "net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestTenPromptsAtAServerNobodyHereWrote is the main job on real input: ten
// prompts as jobs on a chat route, each posted three times at once. Each answer is
// what the server gives when asked directly, and it was asked ten times.
func TestTenPromptsAtAServerNobodyHereWrote(t *testing.T) {
	t.Parallel()
	llm := startMockLLM(t)
	counter := countInFront(t, llm)
	addr := freeAddr(t)
	p := onejob(t, "dev", "--addr", addr, "--config", configFile(t, fmt.Sprintf(`
providers:
  gpt: {type: openai, base_url: "%s/v1", api_key: none, model: gpt-5, timeout: 20s, deadline: 40s}
routes:
  chat: {providers: [gpt]}
`, counter.url)))
	p.ready(addr)
	dev := direct(t, addr)

	const times = 3
	var all sync.WaitGroup
	answers := make([][times]answer, len(prompts))
	errs := make([][times]error, len(prompts))
	for i, prompt := range prompts {
		body, err := json.Marshal(map[string]any{"route": "chat", "input": map[string]any{"messages": messages(prompt)}})
		require.NoError(t, err)
		for j := range times {
			all.Go(func() {
				answers[i][j], errs[i][j] = dev.call(http.MethodPost, "/v1/jobs", string(body),
					"Idempotency-Key", fmt.Sprint("prompt-", i), "Prefer", "wait=30")
			})
		}
	}
	all.Wait()
	for i, prompt := range prompts {
		want := askDirectly(t, llm, prompt)
		for j := range times {
			require.NoError(t, errs[i][j])
			a := answers[i][j]
			require.Equal(t, http.StatusOK, a.status, a.body)
			require.Equal(t, answers[i][0].job.ID, a.job.ID)
			require.Equal(t, "succeeded", string(a.job.State))
			require.Len(t, a.job.Attempts, 1)
			var result struct {
				Content      string `json:"content"`
				FinishReason string `json:"finish_reason"`
			}
			require.NoError(t, json.Unmarshal(a.job.Result, &result))
			require.Equal(t, want.Choices[0].Message.Content, result.Content)
			require.Equal(t, want.Choices[0].FinishReason, result.FinishReason)
		}
	}
	// It was asked ten times, for exactly these, each once.
	require.ElementsMatch(t, prompts, counter.prompts())
}

// prompts are as people write them.
var prompts = []string{
	"Summarise in one sentence: the press jammed twice on Monday, and the night shift printed nothing.",
	"Schreibe eine höfliche Absage an einen Bewerber. Größe des Betriebs: fünf Leute.",
	"Traduis en français : « The quick brown fox », puis explique l'accord du participe passé.",
	"请用一句话概括下面的新闻：印刷厂星期一停工两次。",
	"次の文を丁寧語に直してください：印刷、終わった？",
	"اكتب رسالة قصيرة إلى الزبون تعتذر فيها عن التأخير.",
	"Объясни, почему «неизвестно» — это не «не удалось».",
	"What does this do? ```go\nfor i := range 10 {\n\tdefer fmt.Println(\"\\\"\", i, `\\n`)\n}\n``` And this: SELECT * FROM t WHERE a <> 'b' -- \u0000?",
	"Emoji and such: 👩‍👩‍👧‍👦 🏳️‍🌈 é (e\u0301) ﷽ \u202etxet desrever\u202c \t\r\n end",
	strings.Repeat("A long letter from a customer, who has a lot to say about his order. ", 30*1024/69+1),
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

func messages(prompt string) []message {
	return []message{{"system", "You work at a print shop."}, {"user", prompt}}
}

type completion struct {
	Choices []struct {
		Message      message `json:"message"`
		FinishReason string  `json:"finish_reason"`
	} `json:"choices"`
}

func askDirectly(t *testing.T, url, prompt string) completion {
	t.Helper()
	body, err := json.Marshal(map[string]any{"model": "gpt-5", "messages": messages(prompt)})
	require.NoError(t, err)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}
	response, err := client.Post(url+"/v1/chat/completions", "application/json", strings.NewReader(string(body)))
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	require.Equal(t, http.StatusOK, response.StatusCode)
	var c completion
	require.NoError(t, json.NewDecoder(response.Body).Decode(&c))
	require.NotEmpty(t, c.Choices)
	require.NotEmpty(t, c.Choices[0].Message.Content)
	return c
}

// counter stands in front of the server and keeps what onejob asks of it.
type counter struct {
	url string

	mu    sync.Mutex
	asked []string
}

func (c *counter) prompts() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.asked...)
}

func (c *counter) note(r *http.Request) error {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	var request struct {
		Messages []message `json:"messages"`
	}
	if err := json.Unmarshal(body, &request); err != nil || len(request.Messages) == 0 {
		return fmt.Errorf("no chat request: %q: %w", body, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = append(c.asked, request.Messages[len(request.Messages)-1].Content)
	return nil
}

func countInFront(t *testing.T, target string) *counter {
	t.Helper()
	c := &counter{}
	at, err := neturl.Parse(target)
	require.NoError(t, err)
	transport := &http.Transport{}
	proxy := &httputil.ReverseProxy{
		Transport: transport,
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(at) },
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := c.note(r); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	c.url = server.URL
	t.Cleanup(func() {
		server.Close()
		transport.CloseIdleConnections()
	})
	return c
}

// startMockLLM installs the npm package @dwmkerr/mock-llm, as node/package-lock.json
// has it, and starts it.
func startMockLLM(t *testing.T) (url string) {
	t.Helper()
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			if os.Getenv("ONEJOB_REQUIRE_NODE") != "" {
				require.FailNow(t, program+" is not installed")
			}
			t.Skip(program + " is not installed, and the server this test needs is a package of it")
		}
	}
	entry := filepath.Join("node", "node_modules", "@dwmkerr", "mock-llm", "dist", "main.js")
	if _, err := os.Stat(entry); err != nil {
		install := exec.Command("npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts")
		install.Dir = "node"
		out, err := install.CombinedOutput()
		require.NoError(t, err, string(out))
	}
	entry, err := filepath.Abs(entry)
	require.NoError(t, err)
	config, err := filepath.Abs(filepath.Join("node", "mock-llm.yaml"))
	require.NoError(t, err)
	addr := freeAddr(t)
	host, port, err := net.SplitHostPort(addr)
	require.NoError(t, err)
	launch(t, []string{"HOST=" + host, "PORT=" + port}, "node", entry, "--config", config)
	url = "http://" + addr
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	require.Eventually(t, func() bool {
		response, err := client.Get(url + "/health")
		if err != nil {
			return false
		}
		_ = response.Body.Close()
		return response.StatusCode == http.StatusOK
	}, patience, 50*time.Millisecond, "the server did not start")
	return url
}

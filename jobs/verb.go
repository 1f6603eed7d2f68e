package jobs

import (
	"strings"

	"github.com/redis/go-redis/v9"

	"onejob/lua"
)

// VerbOf is the verb (a script of package lua) that a command runs, for those who
// count round trips; empty for any other command.
func VerbOf(cmd redis.Cmder) string {
	args := cmd.Args()
	if len(args) < 2 {
		return ""
	}
	script, _ := args[1].(string)
	switch strings.ToLower(cmd.Name()) {
	case "fcall":
		return lua.VerbOf(script)
	case "evalsha":
		return lua.Name(script)
	case "eval": // the first time at a server that does not know it yet
		return lua.Name(redis.NewScript(script).Hash())
	}
	return ""
}

// NoFunction tells an answer by which a Store learns that a server has yet to be given
// its functions, or has none: nothing is wrong.
func NoFunction(err error) bool { return lua.NoFunction(err) }

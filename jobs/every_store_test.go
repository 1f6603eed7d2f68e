package jobs_test

import (
	"github.com/redis/go-redis/v9"

	"onejob/jobs"
	"onejob/lua"
)

// put puts a command into a pipeline; its script must have been loaded, or functions have
// been, if the server has any.
func (s *scripts) put(pipe redis.Pipeliner, c command) *redis.Cmd {
	keys, args := s.call(c)
	if s.functions {
		return pipe.FCall(s.ctx, lua.Function(verbScripts[c.verb]), keys, args...)
	}
	return verbScripts[c.verb].EvalSha(s.ctx, pipe, keys, args...)
}

// restore puts into a pipeline what makes the partition as it was at a place.
func (s *scripts) restore(pipe redis.Pipeliner, p *place) {
	keys := s.keys()
	owner, open := s.prefix+"owner:"+ownerHash, s.prefix+"open"
	pipe.Del(s.ctx, append([]string{s.key, owner, open, s.prefix + "webhooks"}, keys...)...)
	for _, state := range jobs.States {
		pipe.Del(s.ctx, s.prefix+"state:"+string(state))
	}
	pipe.HSet(s.ctx, keys[0], p.record)
	for member, at := range p.now.due {
		pipe.ZAdd(s.ctx, keys[1], redis.Z{Score: float64(at), Member: member})
	}
	for member, at := range p.now.pending {
		pipe.ZAdd(s.ctx, s.prefix+"webhooks", redis.Z{Score: float64(at), Member: member})
	}
	pipe.Set(s.ctx, keys[2], p.now.seq, 0)
	pipe.Set(s.ctx, s.key, "v1:a "+s.id, 0)
	pipe.ZAdd(s.ctx, owner, redis.Z{Score: float64(p.now.owner), Member: s.id})
	for state, at := range p.now.states {
		pipe.ZAdd(s.ctx, s.prefix+"state:"+state, redis.Z{Score: float64(at), Member: s.id})
	}
	if p.now.open > 0 {
		pipe.HSet(s.ctx, open, ownerHash, p.now.open)
	}
	expiries := p.model.image().expiries // miniredis's own are off by a little
	for i, key := range []string{keys[0], s.key} {
		if at := expiries[i]; at > 0 {
			pipe.Do(s.ctx, "PEXPIREAT", key, at)
		}
	}
}

// askMend puts the store's own check of what must agree with the record into a
// pipeline (I11); its script must have been loaded.
func (s *scripts) askMend(pipe redis.Pipeliner) *redis.Cmd {
	return lua.Mend.EvalSha(s.ctx, pipe, s.keys(), "", "fsck", s.keepJob, s.keepKey, 0)
}

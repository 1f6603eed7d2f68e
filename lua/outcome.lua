-- include: settle
-- Outcomes: who may still take the result slot, and what becomes of the rest.

-- entitled is the three guards on one door (§2): the fence, the slot, the
-- attempt's own state. The state alone would do (spec/); all three are kept.
local function entitled(a, fence)
  if a.fence ~= job.version or (fence and fence ~= job.version) then return false end
  if given(job.completed_by) then return false end
  return a.state == 'running' or a.state == 'unknown'
end

-- why_late names what an outcome lost against.
local function why_late(a)
  if given(job.completed_by) and job.completed_by ~= digits(a.number) then return 'slot_taken' end
  if not is_open(a.state) then return 'attempt_' .. a.state end
  return 'version_moved'
end

-- observe keeps what was seen of the call itself. Of a closed attempt only the
-- effect may still change, and only to done.
local function observe(a, effect, evidence, sent_ago, usage)
  if not is_open(a.state) then
    if effect == 'done' then set_attempt(a.number, 'effect', effect) end
    return
  end
  set_attempt_given(a.number, 'effect', effect)
  set_attempt_given(a.number, 'evidence', evidence)
  set_attempt_given(a.number, 'usage', usage)
  if given(sent_ago) then set_attempt(a.number, 'sent', now - tonumber(sent_ago)) end
end

-- late records an outcome that has no say any more: its digest, size, time and
-- the reason it lost; never the payload, never applied (I6). Of several late
-- outcomes of one attempt the first is kept on the attempt, all in the trail.
local function late(a, sha256, bytes)
  local reason = why_late(a)
  if not a.late_sha256 then
    set_attempt(a.number, 'late_sha256', sha256)
    set_attempt(a.number, 'late_bytes', bytes)
    set_attempt(a.number, 'late_at', now)
    set_attempt(a.number, 'late_reason', reason)
  end
  -- Also an attempt that was never claimed as far as this store knows: somebody
  -- has made its call, so it must not be made again.
  local shut_out = is_open(a.state)
  if shut_out then move_attempt(a.number, 'discarded') end
  event('late_result_discarded', a.number, a.state, states[a.number], reason .. ' sha256:' .. sha256)
  if shut_out then
    if not first_open(a.number) and not is_ended(job.state) then
      blame('late_result', 'the only open attempt was shut out by a newer version', a.number)
    end
    settle()
  end
  remember('late', reason)
  commit()
  return reply('late', reason)
end

-- digest is as much of a SHA-256 as tells the winner's own bytes from others: 128 bits.
local function digest(sha256) return string.sub(sha256, 1, 32) end

-- win gives the slot to the attempt: result, completed_by, version and state in
-- one script (I3).
local function win(a, verb, result, sha256, reason)
  set('result', result)
  set('result_digest', digest(sha256))
  set('completed_by', digits(a.number))
  raise()
  move_attempt(a.number, 'succeeded')
  event(verb, a.number, a.state, 'succeeded', reason)
  settle('succeeded')
  remember('won')
  commit()
  return reply('won')
end

-- include: small
-- The record: what every verb reads, and the one way it is written.
--
-- KEYS of every verb but submit, all in one hash slot (design §3):
--   1 job   hash    the job and its attempts: see schema.lua
--   2 due   zset    what must happen later in this partition, by time
--   3 seq   counter rises with every verb that writes
-- The state and owner indexes and the key's own record share the prefix of seq.
--
-- ARGV of each:
--   1 op         id of this operation, made before the call; found again = answered again
--   2 actor      who asks, for the trail
--   3 keep_job   retention of the record after its end, ms
--   4 keep_key   retention of the key after its end, ms
-- Verbs number their own from 5. An empty string means: not given.
--
-- Each answers {answer, seq, version, state, revision, detail, opened,
-- provider, wait, owner, ...}: opened and the three after it tell of an attempt that
-- was opened, in how many ms it may start, and the hash of the owner it is for. What
-- follows is the verb's own.
--
-- Redis does not roll back: a verb reads and validates first, collects its
-- writes in set() and set_attempt(), and writes them all in commit().

local JOB, DUE, SEQ, PREFIX
local OP, ACTOR
local KEEP_JOB, KEEP_KEY -- for whoever ends a job; numbers where they are needed: Lua sees to it

local now, AT -- by the store's clock, ms, and as text
local job, rows, ops, states, providers
local writes, deletes -- of the fields of their own
local damaged -- the record is there and cannot be read
local seq -- as this verb left it

local REMEMBERED = 16 -- operations whose answers a job keeps

-- turn_to makes the verb speak of a job of this partition from here on.
local function turn_to(key)
  JOB = key
  job, rows, ops, states, providers = nil, {}, {}, {}, {}
  writes, deletes = {}, {}
end

-- begin is called before every verb (lua.go), and sets all that is set above: a function
-- finds what the one before it left (library.go).
local function begin(KEYS, ARGV)
  turn_to(KEYS[1])
  DUE, SEQ = KEYS[2], KEYS[3]
  PREFIX = string.sub(SEQ, 1, -4)
  OP, ACTOR, KEEP_JOB, KEEP_KEY = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
  local clock = redis.call('TIME')
  now = tonumber(clock[1]) * 1000 + math.floor(tonumber(clock[2]) / 1000)
  AT = string.format('%d', now)
  layout, newer, damaged, seq = nil, nil, nil, nil
end

-- nest

-- LARGE are the fields of their own, of the job, its attempts and its deliveries.
local LARGE = { input = true, params = true, metadata = true, webhook_url = true, result = true,
  error_message = true, error = true, usage = true, handle = true }

local function text(number) return printed[number] or string.format('%d', number) end

-- given turns an empty or missing argument into nil.
local function given(value)
  if value == nil or value == false or value == '' then return nil end
  return value
end

local function write(field, value)
  writes[#writes + 1] = stored(field)
  writes[#writes + 1] = value
end

-- small is a value as a line may hold it, where empty is not there.
local function small(value)
  if value == now then return AT end
  if type(value) == 'string' then return given(one_line(value)) end
  if type(value) == 'number' and value >= 1e14 then return text(value) end
  return value
end

local function set(field, value)
  if LARGE[field] then return write(field, value) end
  job[field] = small(value)
end

local function unset(field)
  if LARGE[field] then
    deletes[#deletes + 1] = stored(field)
    return
  end
  job[field] = nil
end

local function set_attempt(n, field, value)
  if LARGE[field] then return write(digits(n) .. '.' .. field, value) end
  rows[n] = rows[n] or {}
  rows[n][field] = small(value)
end

local function set_attempt_given(n, field, value)
  if given(value) then set_attempt(n, field, value) end
end

local function load_states()
  for n = 1, job.attempts do
    local row = rows[n]
    if row then states[n], providers[n] = row.state, row.provider end
  end
end

-- load_job reads all that is small of the job and its attempts; nil when there is
-- no such job (a verb on a job that is not there writes nothing), or its record is of
-- a newer schema: then reply() says so, whatever it is asked to answer. A record that
-- somebody has damaged by hand is an error, or nil for who says that he puts up with it.
local function load_job(damaged_too)
  local got = redis.call('HMGET', JOB, 'v', 'small')
  if not open_schema(got[1]) then return nil end
  if not got[2] and redis.call('EXISTS', JOB) == 0 then return nil end
  job, rows, ops = read_small(got[2] or '')
  damaged = not job
  if damaged then
    rows, ops = {}, {}
    if damaged_too then return nil end
    error('the record ' .. JOB .. ' cannot be read; onejob fsck says more')
  end
  job.id = string.sub(JOB, #PREFIX + 5)
  job.version, job.revision = tonumber(job.version), tonumber(job.revision)
  job.attempts = tonumber(job.attempts)
  load_states()
  return job
end

-- load_attempt gives one attempt; nil when there is none with that number.
local function load_attempt(n)
  if not states[n] then return nil end
  local row = rows[n]
  return { number = n, state = states[n], provider = providers[n], fence = tonumber(row.fence), token = row.token,
    lease = tonumber(row.lease), deadline = tonumber(row.deadline), not_before = tonumber(row.not_before), reason = row.reason,
    unknown_at = tonumber(row.unknown_at), sent = row.sent, late_sha256 = row.late_sha256 }
end

local function is_open(state) return state == 'starting' or state == 'running' or state == 'unknown' end
local function is_final(state) return state == 'succeeded' or state == 'cancelled' end
local function is_ended(state) return is_final(state) or state == 'failed' end

-- first_open returns the number of the first open attempt other than except, or nil.
local function first_open(except)
  for n = 1, job.attempts do
    if n ~= except and states[n] and is_open(states[n]) then return n end
  end
  return nil
end

local function due_name(kind, n) return kind .. ':' .. job.id .. ':' .. digits(n) end
local function remind(kind, n, at) redis.call('ZADD', DUE, text(at), due_name(kind, n)) end
local function forget(kind, n) redis.call('ZREM', DUE, due_name(kind, n)) end

-- forget_all takes away what an attempt has been reminded of, by the state it leaves.
local function forget_all(n, from)
  if from == 'running' then
    forget('lease', n)
  elseif from == 'unknown' then
    redis.call('ZREM', DUE, due_name('lookup', n), due_name('settle', n), due_name('race', n))
  else
    redis.call('ZREM', DUE, due_name('wake', n), due_name('start', n))
  end
end

-- move_attempt changes an attempt's state. Terminal states never change (I5):
-- the guards of the verbs see to it, and this stays on to tell if they do not.
local function move_attempt(n, to)
  local from = states[n]
  if from and not is_open(from) then error('I5: attempt ' .. n .. ' is ' .. from) end
  if from == 'starting' and job.hold then unset('hold') end
  states[n] = to
  set_attempt(n, 'state', to)
  if not is_open(to) then
    set_attempt(n, 'finished', now)
    rows[n].lease, rows[n].deadline = nil, nil -- nobody waits for it any more
    forget_all(n, from)
  end
end

-- event adds a line to the trail: time, actor, verb, attempt, from, to, reason. The
-- first line is submit.lua's own.
local function event(verb, n, from, to, reason)
  local k = (tonumber(job.events) or 0) + 1
  set('events', digits(k))
  write('e' .. digits(k), table.concat({ AT, ACTOR, verb, n and digits(n) or '', from or '', to or '', reason or '' }, '\t'))
end

-- remember keeps the answer of this operation, so that the same command sent
-- again is answered again and not done again. The latest take the place of the
-- oldest.
local function remember(answer, detail)
  if not given(OP) then return end
  if #ops >= REMEMBERED then table.remove(ops, 1) end
  ops[#ops + 1] = one_line(table.concat({ 'o', OP, answer, detail or '' }, '='))
end

-- recall finds what this operation was answered before: answer, detail; or nil.
local function recall()
  if not given(OP) then return nil end
  for k = #ops, 1, -1 do
    local op, answer, detail = string.match(ops[k], '^o=([^=]*)=([^=]*)=(.*)$')
    if op == OP then return answer, detail end
  end
  return nil
end

-- save writes what is small, and nothing else: for what is no news of the job.
local function save() redis.call('HSET', JOB, 'small', small_of(job, rows, ops)) end

-- commit writes what was collected, in one place and one order, and tells
-- those who watch the job. The version is written by raise() alone (I9). books is
-- true for what is about the job's deliveries and no news of the job itself.
local function commit(books)
  set('revision', job.revision + 1)
  if not books then set('updated', now) end
  redis.call('HSET', JOB, 'small', small_of(job, rows, ops), unpack(writes))
  if #deletes > 0 then redis.call('HDEL', JOB, unpack(deletes)) end
  seq = text(redis.call('INCR', SEQ))
  redis.call('PUBLISH', PREFIX .. 'changed:' .. job.id, job.state)
  writes, deletes = nil, nil -- a function would keep a result until the next one runs
end

-- raise shuts out whatever still runs under the old version (I9: only upwards).
local function raise() set('version', job.version + 1) end

-- reply is the one shape of every answer.
local function reply(answer, detail, opened, ...)
  local provider, wait, owner = '', '', ''
  if given(opened) and states[tonumber(opened)] then
    local n = tonumber(opened)
    provider, owner = providers[n], job.owner_hash
    local not_before = tonumber(rows[n].not_before) or 0
    wait = text(math.max(0, not_before - now))
  end
  seq = seq or redis.call('GET', SEQ) or '0'
  if newer then answer, detail = 'newer_schema', newer end
  if not job then return { answer, seq, '0', '', '0', detail or '', '', '', '', '', ... } end
  return { answer, seq, text(job.version), job.state, text(job.revision), detail or '', opened or '', provider,
    wait, owner, ... }
end

-- refuse_attempt answers with what is known of the attempt in the way.
local function refuse_attempt(answer, n)
  local a = load_attempt(n)
  return reply(answer, '', '', text(n), a.state, a.reason or '', text(a.unknown_at or a.not_before or 0),
    text(a.deadline or 0))
end

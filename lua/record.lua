-- The record: what every verb reads, and the one way it is written.
--
-- KEYS of every verb, all in one hash slot (design §3):
--   1 job       hash    the job
--   2 attempts  hash    its attempts, fields <n>.<name>
--   3 events    stream  the trail
--   4 due       zset    what must happen later in this partition, by time
--   5 seq       counter rises with every verb that writes
-- The state and owner indexes and the key's own record share the prefix of seq.
--
-- ARGV of every verb:
--   1 op         id of this operation, made before the call; found again = answered again
--   2 actor      who asks, for the trail
--   3 keep_job   retention of the record after its end, ms
--   4 keep_key   retention of the key after its end, ms
-- Verbs number their own from 5. An empty string means: not given.
--
-- Every verb answers {answer, seq, version, state, revision, detail, opened,
-- provider, wait, owner, ...}: opened and the three after it tell of an attempt that
-- was opened, in how many ms it may start, and the hash of the owner it is for. What
-- follows is the verb's own.
--
-- Redis does not roll back: a verb reads and validates first, collects its
-- writes in set() and set_attempt(), and writes them all in commit().

local JOB, ATTEMPTS, EVENTS, DUE, SEQ = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local OP, ACTOR, KEEP_JOB, KEEP_KEY = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local PREFIX = string.sub(SEQ, 1, -4)

local SCHEMA = '1'
local REMEMBERED = 16 -- operations whose answers a job keeps

local clock = redis.call('TIME')
local now = tonumber(clock[1]) * 1000 + math.floor(tonumber(clock[2]) / 1000)

local job, states, providers = nil, {}, {}
local job_writes, job_deletes, attempt_writes, trail = {}, {}, {}, {}

local function text(number) return string.format('%.0f', number) end

-- given turns an empty or missing argument into nil.
local function given(value)
  if value == nil or value == false or value == '' then return nil end
  return value
end

-- stored is a value as Redis keeps it; numbers are whole.
local function stored(value)
  if type(value) == 'number' then return text(value) end
  return value
end

local function set(field, value)
  job[field] = value
  job_writes[#job_writes + 1] = field
  job_writes[#job_writes + 1] = stored(value)
end

local function unset(field)
  job[field] = nil
  job_deletes[#job_deletes + 1] = field
end

local function set_attempt(n, field, value)
  attempt_writes[#attempt_writes + 1] = n .. '.' .. field
  attempt_writes[#attempt_writes + 1] = stored(value)
end

local function set_attempt_given(n, field, value)
  if given(value) then set_attempt(n, field, value) end
end

local JOB_FIELDS = { 'id', 'state', 'version', 'revision', 'fingerprint', 'attempts', 'completed_by', 'owner_hash',
  'key_hash', 'created', 'provider', 'route', 'start_by', 'expires', 'ops', 'hold', 'epoch', 'webhook_url', 'hooks',
  'hooks_off' }

-- turn_to makes the verb speak of another job of the same partition from here on.
local function turn_to(id)
  JOB, ATTEMPTS, EVENTS = PREFIX .. 'job:' .. id, PREFIX .. 'attempts:' .. id, PREFIX .. 'events:' .. id
  job, states, providers = nil, {}, {}
  job_writes, job_deletes, attempt_writes, trail = {}, {}, {}, {}
end

-- load_job reads the job's small fields and the state of every attempt; nil
-- when there is no such job (a verb on a job that is not there writes nothing).
local function load_job()
  local values = redis.call('HMGET', JOB, unpack(JOB_FIELDS))
  if not values[2] then return nil end
  job = {}
  for i, name in ipairs(JOB_FIELDS) do job[name] = values[i] or nil end
  job.version, job.revision = tonumber(job.version), tonumber(job.revision)
  job.attempts, job.created = tonumber(job.attempts), tonumber(job.created)
  local names = {}
  for n = 1, job.attempts do
    names[#names + 1] = n .. '.state'
    names[#names + 1] = n .. '.provider'
  end
  local found = redis.call('HMGET', ATTEMPTS, unpack(names))
  for n = 1, job.attempts do
    states[n] = found[2 * n - 1] or nil
    providers[n] = found[2 * n] or nil
  end
  return job
end

local ATTEMPT_FIELDS = { 'fence', 'token', 'lease', 'deadline', 'not_before', 'reason', 'unknown_at',
  'sent', 'late_sha256', 'handle' }

-- load_attempt reads one attempt; nil when there is none with that number.
local function load_attempt(n)
  if not states[n] then return nil end
  local names = {}
  for i, name in ipairs(ATTEMPT_FIELDS) do names[i] = n .. '.' .. name end
  local values = redis.call('HMGET', ATTEMPTS, unpack(names))
  local a = { number = n, state = states[n], provider = providers[n] }
  for i, name in ipairs(ATTEMPT_FIELDS) do a[name] = values[i] or nil end
  a.fence, a.lease, a.deadline = tonumber(a.fence), tonumber(a.lease), tonumber(a.deadline)
  a.not_before, a.unknown_at = tonumber(a.not_before), tonumber(a.unknown_at)
  return a
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

local function due_name(kind, n) return kind .. ':' .. job.id .. ':' .. n end
local function remind(kind, n, at) redis.call('ZADD', DUE, text(at), due_name(kind, n)) end
local function forget(kind, n) redis.call('ZREM', DUE, due_name(kind, n)) end

-- move_attempt changes an attempt's state. Terminal states never change (I5):
-- the guards of the verbs see to it, and this stays on to tell if they do not.
local function move_attempt(n, to)
  if states[n] and not is_open(states[n]) then error('I5: attempt ' .. n .. ' is ' .. states[n]) end
  if states[n] == 'starting' and job.hold then unset('hold') end
  states[n] = to
  set_attempt(n, 'state', to)
  if not is_open(to) then
    set_attempt(n, 'finished', now)
    redis.call('ZREM', DUE, due_name('wake', n), due_name('lease', n), due_name('lookup', n),
      due_name('settle', n), due_name('race', n), due_name('start', n))
  end
end

-- event adds a line to the trail, written by commit.
local function event(verb, n, from, to, reason)
  local fields = { 'verb', verb, 'actor', ACTOR }
  local function add(name, value)
    if given(value) then
      fields[#fields + 1] = name
      fields[#fields + 1] = value
    end
  end
  add('attempt', n and text(n))
  add('from', from)
  add('to', to)
  add('reason', reason)
  trail[#trail + 1] = fields
end

-- remember keeps the answer of this operation, so that the same command sent
-- again is answered again and not done again.
local function remember(answer, detail)
  if not given(OP) then return end
  local kept = {}
  for entry in string.gmatch(job.ops or '', '[^;]+') do kept[#kept + 1] = entry end
  kept[#kept + 1] = OP .. '=' .. answer .. '=' .. (detail or '')
  local first = math.max(1, #kept - REMEMBERED + 1)
  set('ops', table.concat(kept, ';', first))
end

-- recall finds what this operation was answered before: answer, detail; or nil.
local function recall()
  if not given(OP) or not job.ops then return nil end
  for entry in string.gmatch(job.ops, '[^;]+') do
    local op, answer, detail = string.match(entry, '^([^=]*)=([^=]*)=(.*)$')
    if op == OP then return answer, detail end
  end
  return nil
end

-- commit writes what was collected, in one place and one order, and tells
-- those who watch the job. The version is written by raise() alone (I9). books is
-- true for what is about the job's deliveries and no news of the job itself.
local function commit(books)
  set('revision', job.revision + 1)
  if not books then set('updated', now) end
  redis.call('HSET', JOB, unpack(job_writes))
  if #job_deletes > 0 then redis.call('HDEL', JOB, unpack(job_deletes)) end
  if #attempt_writes > 0 then redis.call('HSET', ATTEMPTS, unpack(attempt_writes)) end
  for _, fields in ipairs(trail) do redis.call('XADD', EVENTS, '*', unpack(fields)) end
  redis.call('INCR', SEQ)
  redis.call('PUBLISH', PREFIX .. 'changed:' .. job.id, job.state)
end

-- raise shuts out whatever still runs under the old version (I9: only upwards).
local function raise() set('version', job.version + 1) end

-- reply is the one shape of every answer.
local function reply(answer, detail, opened, ...)
  local provider, wait, owner = '', '', ''
  if given(opened) and states[tonumber(opened)] then
    local n = tonumber(opened)
    provider, owner = providers[n], job.owner_hash or ''
    local not_before = tonumber(redis.call('HGET', ATTEMPTS, n .. '.not_before') or '0')
    wait = text(math.max(0, not_before - now))
  end
  local seq = redis.call('GET', SEQ) or '0'
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

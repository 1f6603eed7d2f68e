-- include: schema
-- The record: what every verb reads, and the one way it is written.
--
-- KEYS of every verb, all in one hash slot (design §3):
--   1 job   hash    the job and, in fields <n>.<name>, its attempts: what is small
--   2 data  hash    what is large, and the trail in fields e<k>
--   3 due   zset    what must happen later in this partition, by time
--   4 seq   counter rises with every verb that writes
-- The state and owner indexes and the key's own record share the prefix of seq.
--
-- The two hashes are apart for the memory of the store: Redis packs a hash tightly
-- as long as every value has at most 64 bytes, which is four times less.
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

local JOB, DATA, DUE, SEQ = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local OP, ACTOR, KEEP_JOB, KEEP_KEY = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local PREFIX = string.sub(SEQ, 1, -4)

local REMEMBERED = 16 -- operations whose answers a job keeps

local clock = redis.call('TIME')
local now = tonumber(clock[1]) * 1000 + math.floor(tonumber(clock[2]) / 1000)

local job, states, providers = nil, {}, {}
local job_writes, job_deletes, data_writes, data_deletes = {}, {}, {}, {}

-- LARGE are the fields kept in data, of the job and of its attempts.
local LARGE = { input = true, params = true, metadata = true, webhook_url = true, key = true, result = true,
  error_message = true, evidence = true, usage = true, error = true, handle = true }

local function text(number) return string.format('%d', number) end
local AT = text(now)

-- digits is the number of an attempt as text: Lua would print it anew for every name.
local printed = {}
local function digits(n)
  local known = printed[n] or tostring(n)
  printed[n] = known
  return known
end

-- given turns an empty or missing argument into nil.
local function given(value)
  if value == nil or value == false or value == '' then return nil end
  return value
end

local function write(writes, field, value)
  if value == now then value = AT elseif type(value) == 'number' then value = text(value) end -- numbers are whole
  if renamed then field = stored(field) end
  writes[#writes + 1] = field
  writes[#writes + 1] = value
end

local function set(field, value)
  if LARGE[field] then return write(data_writes, field, value) end
  job[field] = value
  write(job_writes, field, value)
end

local function unset(field)
  if LARGE[field] then
    data_deletes[#data_deletes + 1] = stored(field)
    return
  end
  job[field] = nil
  job_deletes[#job_deletes + 1] = stored(field)
end

local function set_attempt(n, field, value)
  local name = digits(n) .. '.' .. field
  if LARGE[field] then return write(data_writes, name, value) end
  job[name] = value
  write(job_writes, name, value)
end

local function set_attempt_given(n, field, value)
  if given(value) then set_attempt(n, field, value) end
end

-- turn_to makes the verb speak of another job of the same partition from here on.
local function turn_to(id)
  JOB, DATA = PREFIX .. 'job:' .. id, PREFIX .. 'data:' .. id
  job, states, providers = nil, {}, {}
  job_writes, job_deletes, data_writes, data_deletes = {}, {}, {}, {}
end

local function load_states()
  for n = 1, job.attempts do
    states[n], providers[n] = job[digits(n) .. '.state'], job[digits(n) .. '.provider']
  end
end

-- load_job reads all that is small of the job and its attempts; nil when there is
-- no such job (a verb on a job that is not there writes nothing), or its record is of
-- a newer schema: then reply() says so, whatever it is asked to answer.
local function load_job()
  local fields = redis.call('HGETALL', JOB)
  if #fields == 0 then return nil end
  job = { id = string.sub(JOB, #PREFIX + 5) }
  for i = 1, #fields, 2 do job[fields[i]] = fields[i + 1] end
  if not open_schema(job.v) then
    job = nil
    return nil
  end
  if renamed then
    rename(fields)
    for i = 1, #fields, 2 do job[fields[i]] = fields[i + 1] end
  end
  job.version, job.revision = tonumber(job.version), tonumber(job.revision)
  job.attempts, job.created = tonumber(job.attempts), tonumber(job.created)
  load_states()
  return job
end

-- load_attempt gives one attempt; nil when there is none with that number.
local function load_attempt(n)
  if not states[n] then return nil end
  local prefix = digits(n) .. '.'
  local function field(name) return job[prefix .. name] end
  local function number(name) return tonumber(field(name)) end
  return { number = n, state = states[n], provider = providers[n], fence = number('fence'), token = field('token'),
    lease = number('lease'), deadline = number('deadline'), not_before = number('not_before'), reason = field('reason'),
    unknown_at = number('unknown_at'), sent = field('sent'), late_sha256 = field('late_sha256') }
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

-- event adds a line to the trail: time, actor, verb, attempt, from, to, reason. The
-- first line is submit.lua's own.
local function event(verb, n, from, to, reason)
  local k = (tonumber(job.events) or 0) + 1
  set('events', k)
  write(data_writes, 'e' .. k, table.concat({ AT, ACTOR, verb, n and digits(n) or '', from or '', to or '',
    reason or '' }, '\t'))
end

-- remember keeps the answer of this operation, so that the same command sent
-- again is answered again and not done again. The latest take the place of the
-- oldest.
local function remember(answer, detail)
  if not given(OP) then return end
  local k = (tonumber(job.ops) or 0) + 1
  set('ops', k)
  set('op' .. k % REMEMBERED, OP .. '=' .. answer .. '=' .. (detail or ''))
end

-- recall finds what this operation was answered before: answer, detail; or nil.
local function recall()
  if not given(OP) or not job.ops then return nil end
  for k = 0, math.min(tonumber(job.ops), REMEMBERED - 1) do
    local op, answer, detail = string.match(job['op' .. k] or '', '^([^=]*)=([^=]*)=(.*)$')
    if op == OP then return answer, detail end
  end
  return nil
end

local seq -- as this verb left it

-- commit writes what was collected, in one place and one order, and tells
-- those who watch the job. The version is written by raise() alone (I9). books is
-- true for what is about the job's deliveries and no news of the job itself.
local function commit(books)
  set('revision', job.revision + 1)
  if not books then set('updated', now) end
  redis.call('HSET', JOB, unpack(job_writes))
  if #job_deletes > 0 then redis.call('HDEL', JOB, unpack(job_deletes)) end
  if #data_writes > 0 then redis.call('HSET', DATA, unpack(data_writes)) end
  if #data_deletes > 0 then redis.call('HDEL', DATA, unpack(data_deletes)) end
  seq = text(redis.call('INCR', SEQ))
  redis.call('PUBLISH', PREFIX .. 'changed:' .. job.id, job.state)
end

-- raise shuts out whatever still runs under the old version (I9: only upwards).
local function raise() set('version', job.version + 1) end

-- reply is the one shape of every answer.
local function reply(answer, detail, opened, ...)
  local provider, wait, owner = '', '', ''
  if given(opened) and states[tonumber(opened)] then
    local n = tonumber(opened)
    provider, owner = providers[n], job.owner_hash
    local not_before = tonumber(job[n .. '.not_before'] or '0')
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

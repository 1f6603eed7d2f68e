-- include: settle
-- submit reserves the key for one exact intent and records the job with its
-- first attempt (design §2, §3). Guards I1, I7, I8.
--
-- KEYS 5 key          string `<fingerprint> <job id>`
-- ARGV 5 fingerprint  6 job id        7 owner       8 owner hash  9 idempotency key
--     10 key hash    11 route        12 provider   13 input      14 params
--     15 metadata    16 webhook url  17 start within, ms
--     18 grace, ms: how long the caller has to enqueue before the sweeper does
--     19 trace: the trace context the job was submitted with, for those who look on
--
-- Answers created | exists | conflict | gone. detail is the id of the job that
-- holds the key. created carries the time of it, ms, for the caller knows the rest;
-- exists the record: the fields of job and data.

local KEY = KEYS[5]
local fingerprint, id = ARGV[5], ARGV[6]

-- The reservation: one key, one intent, for ever.
local reserved = redis.call('SET', KEY, fingerprint .. ' ' .. id, 'NX')

if not reserved then
  local held_fingerprint, held_id = string.match(redis.call('GET', KEY), '^(%S+) (%S+)$')
  if held_fingerprint ~= fingerprint then return reply('conflict', held_id) end
  local mine = held_id == id -- this very command, sent again after its reply was lost
  id = held_id
  turn_to(id)
  if not load_job() then return reply('gone', id) end
  -- Of a submission that has not been touched since, its caller knows all.
  if mine and job.revision == 1 then return reply('created', id, '', text(job.created)) end
  return reply(mine and 'created' or 'exists', id, '', redis.call('HGETALL', JOB), redis.call('HGETALL', DATA))
end

job = { id = id, state = 'queued', version = 1, revision = 0, attempts = 1, created = now }
states[1], providers[1] = 'starting', ARGV[12]

local function keep_given(field, value)
  if given(value) then set(field, value) end
end

set('v', SCHEMA)
set('state', 'queued')
set('version', 1)
set('attempts', 1)
set('created', now)
set('owner', ARGV[7])
set('owner_hash', ARGV[8])
set('key', ARGV[9])
set('key_hash', ARGV[10])
set('fingerprint', fingerprint)
set('route', ARGV[11])
set('provider', ARGV[12])
set('input', ARGV[13])
keep_given('params', ARGV[14])
keep_given('metadata', ARGV[15])
keep_given('webhook_url', ARGV[16])
if given(ARGV[16]) then set('hooks', 0) end
keep_given('trace', ARGV[19])
if given(ARGV[17]) then
  set('start_by', now + tonumber(ARGV[17]))
  remind('start', 1, now + tonumber(ARGV[17]) + 1)
end
keep_given('epoch', redis.call('GET', PREFIX .. 'epoch'))

set_attempt(1, 'state', 'starting')
set_attempt(1, 'provider', ARGV[12])
set_attempt(1, 'created', now)
set_attempt(1, 'not_before', now)

remind('wake', 1, now + tonumber(ARGV[18]))
redis.call('ZADD', PREFIX .. 'state:queued', text(now), id)
redis.call('ZADD', PREFIX .. 'owner:' .. ARGV[8], text(now), id)
count_open(1)
event('submit', 1, '', 'starting')
commit()
return reply('created', id, '', text(now))

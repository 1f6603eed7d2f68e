-- include: whole
-- submit reserves the key for one exact intent and records the job with its
-- first attempt (design §2, §3). Guards I1, I7, I8.
--
-- KEYS 1 to 3, ARGV 1 to 4, and the answer, are those of record.lua, which is not
-- included: what is new needs none of the books that changing a record needs, and
-- this is the script that runs most.
--
-- KEYS 4 key          string `<fingerprint> <job id>`
-- ARGV 5 fingerprint  6 job id        7 owner       8 owner hash  9 idempotency key
--     10 key hash    11 route        12 provider   13 input      14 params
--     15 metadata    16 webhook url  17 start within, ms
--     18 grace, ms: how long the caller has to enqueue before the sweeper does
--     19 trace: the trace context the job was submitted with, for those who look on
--     20 schema to write the record in; missing: 1
--
-- Answers created | exists | conflict | gone | newer_schema. detail is the id of the
-- job that holds the key. created carries the time of it, ms, for the caller knows the
-- rest; exists the record, as read.lua gives it; newer_schema its schema; version,
-- state and revision are there.

local JOB, DUE, SEQ, KEY = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local PREFIX = string.sub(SEQ, 1, -4)
local fingerprint, id, provider = ARGV[5], ARGV[6], ARGV[12]
local schema = tonumber(ARGV[20] or '1')
if not open_schema(schema) then error('no schema ' .. schema) end

-- The reservation: one key, one intent, for ever.
if not redis.call('SET', KEY, fingerprint .. ' ' .. id, 'NX') then
  local function answer(word, job_id, ...)
    return { word, redis.call('GET', SEQ) or '0', '0', '', '0', job_id, '', '', '', '', ... }
  end
  local held_fingerprint, held_id = string.match(redis.call('GET', KEY), '^(%S+) (%S+)$')
  if held_fingerprint ~= fingerprint then return answer('conflict', held_id) end
  local held = record_of(PREFIX .. 'job:' .. held_id, true)
  if newer then return answer('newer_schema', held_id, newer) end
  if #held == 0 then return answer('gone', held_id) end
  -- Its own id: this very command, sent again after its reply was lost. Of a job that
  -- has not been touched since, its caller knows all but the time.
  local mine = held_id == id
  local job = mine and job_of(value_of(held, 'small') or '')
  if job and job.revision == '1' then
    return { 'created', redis.call('GET', SEQ), '1', 'queued', '1', id, '', '', '', '', job.created }
  end
  return answer(mine and 'created' or 'exists', held_id, held)
end

local clock = redis.call('TIME')
local now = tonumber(clock[1]) * 1000 + math.floor(tonumber(clock[2]) / 1000)
local at = string.format('%d', now)

local job = { state = 'queued', version = '1', revision = '1', attempts = '1', events = '1', created = at, updated = at,
  owner = one_line(ARGV[7]), owner_hash = ARGV[8], key = ARGV[9], key_hash = ARGV[10], fingerprint = fingerprint,
  route = ARGV[11], provider = provider, epoch = redis.call('GET', PREFIX .. 'epoch') or nil }
local attempt = { state = 'starting', provider = provider, created = at, not_before = at }
if (ARGV[19] or '') ~= '' then job.trace = one_line(ARGV[19]) end
if ARGV[16] ~= '' then job.hooks = 0 end -- see announce in hook.lua
if ARGV[17] ~= '' then
  job.start_by = string.format('%d', now + tonumber(ARGV[17]))
  redis.call('ZADD', DUE, string.format('%d', now + tonumber(ARGV[17]) + 1), 'start:' .. id .. ':1')
end
if layout.opening then
  for column, value in pairs(layout.opening) do job[column] = value end
end

local record = { 'small', layout.write_job(job) .. '\n1\t' .. layout.write_attempt(attempt), stored('input'), ARGV[13],
  'e1', at .. '\t' .. ARGV[2] .. '\tsubmit\t1\t\tstarting\t' }
for i, name in ipairs({ 'params', 'metadata', 'webhook_url' }) do
  if ARGV[13 + i] ~= '' then
    record[#record + 1] = stored(name)
    record[#record + 1] = ARGV[13 + i]
  end
end
if schema > 1 then
  record[#record + 1] = 'v'
  record[#record + 1] = ARGV[20]
end
redis.call('HSET', JOB, unpack(record))
redis.call('ZADD', DUE, string.format('%d', now + tonumber(ARGV[18])), 'wake:' .. id .. ':1')
redis.call('ZADD', PREFIX .. 'state:queued', at, id)
redis.call('ZADD', PREFIX .. 'owner:' .. ARGV[8], at, id)
redis.call('HINCRBY', PREFIX .. 'open', ARGV[8], 1)
local seq = string.format('%d', redis.call('INCR', SEQ))
redis.call('PUBLISH', PREFIX .. 'changed:' .. id, 'queued')
return { 'created', seq, '1', 'queued', '1', id, '', '', '', '', at }

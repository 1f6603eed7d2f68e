-- include: whole
-- submit reserves the key for one exact intent and records the job with its
-- first attempt (design §2, §3). Guards I1, I7, I8.
--
-- It has arguments and answers of its own, and does without record.lua: what is new
-- needs none of the books that changing a record needs, and this is the script that runs
-- most.
--
-- KEYS 1 job         2 due      3 seq: as those of record.lua
--      4 key         string `<fingerprint> <job id>`
-- ARGV 1 actor       2 fingerprint     3 owner           4 owner hash   5 idempotency key
--      6 route       7 provider        8 input           9 params      10 metadata
--     11 webhook url
--     12 start within, ms
--     13 grace, ms: how long the caller has to enqueue before the sweeper does
--     14 trace: the trace context the job was submitted with, for those who look on
--     15 schema to write the record in; missing: 1
-- The id of the job and the key's hash are those of KEYS 1 and 4.
--
-- Answers {created | exists | conflict | gone | newer_schema, seq, id of the job that
-- holds the key, ...}. created carries the time of it, ms, for the caller knows the rest;
-- exists the record, as read.lua gives it; newer_schema its schema. A job of the caller's
-- own id that has been touched since is created with its record.

local JOB, DUE, SEQ, KEY = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local PREFIX = string.sub(SEQ, 1, -4)
local id, fingerprint = string.sub(JOB, #PREFIX + 5), ARGV[2]
local schema = tonumber(ARGV[15] or '1')
if not open_schema(schema) then error('no schema ' .. schema) end

-- The reservation: one key, one intent, for ever.
if not redis.call('SET', KEY, fingerprint .. ' ' .. id, 'NX') then
  local holds, seq = unpack(redis.call('MGET', KEY, SEQ))
  local space = string.find(holds, ' ', 1, true)
  local held_id = string.sub(holds, space + 1)
  seq = seq or '0'
  if string.sub(holds, 1, space - 1) ~= fingerprint then return { 'conflict', seq, held_id } end
  local held = record_of(PREFIX .. 'job:' .. held_id, true)
  if newer then return { 'newer_schema', seq, held_id, newer } end
  if #held == 0 then return { 'gone', seq, held_id } end
  -- Its own id: this very command, sent again after its reply was lost. Of a job that
  -- has not been touched since, its caller knows all but the time.
  local mine = held_id == id
  local job = mine and job_of(value_of(held, 'small') or '')
  if job and job.revision == '1' then return { 'created', seq, id, job.created } end
  return { mine and 'created' or 'exists', seq, held_id, held }
end

local clock = redis.call('TIME')
local now = tonumber(clock[1]) * 1000 + math.floor(tonumber(clock[2]) / 1000)
local at = string.format('%d', now)

local job = { state = 'queued', version = '1', revision = '1', attempts = '1', events = '1', created = at, updated = at,
  owner = one_line(ARGV[3]), owner_hash = ARGV[4], key = ARGV[5], key_hash = string.sub(KEY, #PREFIX + 5),
  fingerprint = fingerprint, route = ARGV[6], provider = ARGV[7], epoch = redis.call('GET', PREFIX .. 'epoch') or nil }
local attempt = { state = 'starting', provider = ARGV[7], created = at, not_before = at }
if (ARGV[14] or '') ~= '' then job.trace = one_line(ARGV[14]) end
if ARGV[11] ~= '' then job.hooks = 0 end -- see announce in hook.lua
if ARGV[12] ~= '' then
  local start_by = now + tonumber(ARGV[12])
  job.start_by = string.format('%d', start_by)
  redis.call('ZADD', DUE, string.format('%d', start_by + 1), 'start:' .. id .. ':1')
end
if layout.opening then
  for column, value in pairs(layout.opening) do job[column] = value end
end

local record = { 'small', layout.write_job(job) .. '\n1\t' .. layout.write_attempt(attempt), stored('input'), ARGV[8],
  'e1', at .. '\t' .. ARGV[1] .. '\tsubmit\t1\t\tstarting\t' }
for i, name in ipairs({ 'params', 'metadata', 'webhook_url' }) do
  if ARGV[8 + i] ~= '' then
    record[#record + 1] = stored(name)
    record[#record + 1] = ARGV[8 + i]
  end
end
if schema > 1 then
  record[#record + 1] = 'v'
  record[#record + 1] = ARGV[15]
end
redis.call('HSET', JOB, unpack(record))
redis.call('ZADD', DUE, string.format('%d', now + tonumber(ARGV[13])), 'wake:' .. id .. ':1')
redis.call('ZADD', PREFIX .. 'state:queued', at, id)
redis.call('ZADD', PREFIX .. 'owner:' .. ARGV[4], at, id)
redis.call('HINCRBY', PREFIX .. 'open', ARGV[4], 1)
local seq = redis.call('INCR', SEQ)
redis.call('PUBLISH', PREFIX .. 'changed:' .. id, 'queued')
return { 'created', seq, id, at }

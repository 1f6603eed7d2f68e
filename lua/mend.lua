-- include: start, delivery
-- mend compares one job's record with what must agree with it (I11): indexes,
-- the due set, the key's own record, times to live. It decides nothing about the
-- job; with repair it makes the rest follow the record.
--
-- ARGV 5 repair: 1 or 0
--
-- Answers {not_found} | {newer_schema, its schema} | {mended, problem, problem, …}.

local repair = ARGV[5] == '1'

if not load_job(true) then
  if damaged then return { 'mended', 'its field small cannot be read; nothing can mend that' } end
  return newer and { 'newer_schema', newer } or { 'not_found' }
end

local found = { 'mended' }
local function problem(what, mend, ...)
  found[#found + 1] = what
  if repair then mend(...) end
end

-- The state follows from the attempts; a final one stands by itself.
local winner = given(job.completed_by)
if job.state == 'succeeded' and not (winner and states[tonumber(winner)] == 'succeeded') then
  found[#found + 1] = 'succeeded without a winner; nothing can mend that'
end
if not is_final(job.state) and job.state ~= state_of_attempts() then
  problem('state is ' .. job.state .. ', its attempts say ' .. state_of_attempts(), function()
    settle()
    commit()
  end)
end

for _, state in ipairs({ 'queued', 'running', 'unknown', 'succeeded', 'failed', 'cancelled' }) do
  local index = PREFIX .. 'state:' .. state
  local listed = redis.call('ZSCORE', index, job.id)
  if listed and state ~= job.state then
    problem('listed as ' .. state .. ', is ' .. job.state, redis.call, 'ZREM', index, job.id)
  elseif not listed and state == job.state then
    problem('not listed as ' .. state, redis.call, 'ZADD', index, job.created, job.id)
  end
end
local owner = PREFIX .. 'owner:' .. job.owner_hash
if not redis.call('ZSCORE', owner, job.id) then
  problem('not listed for its owner', redis.call, 'ZADD', owner, job.created, job.id)
end

local key = PREFIX .. 'key:' .. job.key_hash
local own = job.fingerprint .. ' ' .. job.id
local holds = redis.call('GET', key)
local holder = string.match(holds or '', ' (%S+)$')
if not holds then
  problem('its key is free: a second job could be made for it', redis.call, 'SET', key, own, 'NX')
elseif holder ~= job.id and holder and redis.call('EXISTS', PREFIX .. 'job:' .. holder) == 1 then
  found[#found + 1] = 'its key is held by ' .. holder .. '; nothing can mend that'
elseif holder ~= job.id then
  -- No job is made while its key is held, so this one held it. Redis itself can forget
  -- that: docs/deploy.md, "A torn write".
  problem('its key is held by a job that is not there', redis.call, 'SET', key, own, 'KEEPTTL')
end

-- No key of a job that has not ended carries a TTL; every key of one that has does.
for _, name in ipairs({ JOB, key }) do
  local ttl = redis.call('PTTL', name)
  if not is_ended(job.state) and ttl >= 0 then
    problem('a time to live on ' .. name .. ' though the job has not ended', redis.call, 'PERSIST', name)
  elseif is_ended(job.state) and ttl == -1 then
    local keep_for = KEEP_JOB
    if name == key then keep_for = math.max(KEEP_JOB, KEEP_KEY) end
    problem('no time to live on ' .. name .. ' though the job has ended', redis.call, 'PEXPIREAT', name, text(now + keep_for))
  end
end

-- What must happen later is remembered.
local function must_be_due(member, at)
  if not redis.call('ZSCORE', DUE, member) then
    problem('nothing due for ' .. member, redis.call, 'ZADD', DUE, text(at), member)
  end
end
for n = 1, job.attempts do
  if states[n] == 'starting' then
    must_be_due(due_name('wake', n), now)
    if job.start_by then must_be_due(due_name('start', n), tonumber(job.start_by) + 1) end
  end
  if states[n] == 'running' then must_be_due(due_name('lease', n), now) end
  -- One that is to be looked up has been told when (suspect, take).
  if states[n] == 'unknown' and rows[n].lookup_at then
    must_be_due(due_name('lookup', n), now)
  end
end
for h = 1, tonumber(job.hooks) or 0 do
  local d, member = load_hook(h), due_name('webhook', 'h' .. h)
  local pending = redis.call('ZSCORE', hooks(), member)
  if d and d.state == 'pending' then
    must_be_due(member, math.max(d.next, d.lease))
    if not pending then problem('not listed as pending: ' .. member, redis.call, 'ZADD', hooks(), text(now), member) end
  elseif pending then
    problem('listed as pending, is not: ' .. member, redis.call, 'ZREM', hooks(), member)
  end
end
if is_ended(job.state) then
  must_be_due('expire:' .. job.id .. ':' .. job.owner_hash, job.expires and tonumber(job.expires) or now + KEEP_JOB)
end
return found

-- include: start
-- claim takes a starting attempt for one delivery of its wake-up (design §2, §4).
-- Only the caller of the claim may make the call. Guards I2.
--
-- ARGV 5 attempt  6 token  7 deadline, ms  8 lease, ms  9 provider the caller serves
--
-- Answers claimed | not_starting | too_early | start_expired | not_found |
-- no_attempt. claimed carries: fence, route, owner, try, input, params, the ms for
-- which the attempt could have been claimed before, and the job's trace context.

local n, token = tonumber(ARGV[5]), ARGV[6]
local deadline, lease = now + tonumber(ARGV[7]), now + tonumber(ARGV[8])

if not load_job() then return reply('not_found') end
local a = load_attempt(n)
if not a then return reply('no_attempt') end

local function claimed(fence)
  local try = 0
  for i = 1, n do
    if providers[i] == a.provider then try = try + 1 end
  end
  local values = redis.call('HMGET', JOB, stored('input'), stored('params'))
  return reply('claimed', '', '', text(fence), job.route, job.owner, text(try), values[1], values[2] or '',
    text(math.max(0, now - (a.not_before or now))), job.trace or '')
end

if a.state == 'running' and a.token == token then
  -- Written again, for a WAIT that follows waits for what its own connection wrote.
  save()
  return claimed(a.fence)
end
if a.state ~= 'starting' or a.provider ~= ARGV[9] or is_ended(job.state) then return reply('not_starting', a.state) end

if past_start() then return expire_start(n, 'claim') end

-- A person's attempt is opened with no wait, so it is never too early.
if a.not_before > now then return reply('too_early', text(a.not_before - now)) end

move_attempt(n, 'running')
set_attempt(n, 'fence', job.version)
set_attempt(n, 'token', token)
set_attempt(n, 'deadline', deadline)
set_attempt(n, 'lease', lease)
forget('wake', n)
if job.start_by then forget('start', n) end
remind('lease', n, math.min(lease, deadline))
event('claim', n, 'starting', 'running')
settle()
commit()
return claimed(job.version)

-- include: settle
-- The time a job may be started in (start_within, design §7). It holds for every
-- attempt that is opened without a person asking, the planned ones, too.

local function past_start() return job.start_by ~= nil and now > tonumber(job.start_by) end

-- expire_start closes a starting attempt whose time to start has passed: a queue
-- paused overnight must not start yesterday's click.
local function expire_start(n, verb)
  move_attempt(n, 'cancelled')
  set_attempt(n, 'reason', 'start_expired')
  event(verb, n, 'starting', 'cancelled', 'start_expired')
  if not first_open(n) then blame('start_expired', 'no attempt was started in the time the job was given', n) end
  settle()
  remember('start_expired')
  commit()
  return reply('start_expired')
end

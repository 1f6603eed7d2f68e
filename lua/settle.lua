-- include: record
-- Settling: the only place that sets a job's state (design §2).

-- close_open ends every attempt that is still open, when the job has become
-- final: cancelled if it was never claimed or the job was cancelled, else
-- discarded, for it lost the slot.
local function close_open(job_state)
  for n = 1, job.attempts do
    local from = states[n]
    if from and is_open(from) then
      local to = 'discarded'
      if from == 'starting' or job_state == 'cancelled' then to = 'cancelled' end
      move_attempt(n, to)
      set_attempt(n, 'reason', 'job_' .. job_state)
      event('close', n, from, to, 'job_' .. job_state)
    end
  end
end

-- keep sets the times to live of an ended job: its record for keep_job, its key
-- for keep_key, never less than the record. Nothing else touches a TTL.
local function keep()
  local expires = now + KEEP_JOB
  set('ended', now)
  set('expires', expires)
  redis.call('PEXPIREAT', JOB, text(expires))
  redis.call('PEXPIREAT', ATTEMPTS, text(expires))
  redis.call('PEXPIREAT', EVENTS, text(expires))
  redis.call('PEXPIREAT', PREFIX .. 'key:' .. job.key_hash, text(now + math.max(KEEP_JOB, KEEP_KEY)))
  redis.call('ZADD', DUE, text(expires), 'expire:' .. job.id .. ':' .. job.owner_hash)
end

-- unkeep takes the times to live off a job that is reopened: no key of a job
-- that has not ended carries one.
local function unkeep()
  unset('ended')
  unset('expires')
  redis.call('PERSIST', JOB)
  redis.call('PERSIST', ATTEMPTS)
  redis.call('PERSIST', EVENTS)
  redis.call('PERSIST', PREFIX .. 'key:' .. job.key_hash)
  redis.call('ZREM', DUE, 'expire:' .. job.id .. ':' .. job.owner_hash)
end

local function move_job(to)
  local from = job.state
  if from == to then return end
  set('state', to)
  redis.call('ZREM', PREFIX .. 'state:' .. from, job.id)
  redis.call('ZADD', PREFIX .. 'state:' .. to, text(job.created), job.id)
  if is_ended(from) and not is_ended(to) then unkeep() end
  if is_ended(to) and not is_ended(from) then keep() end
  if is_final(to) then close_open(to) end
  if to == 'failed' then
    redis.call('ZADD', DUE, text(now), 'ticket:' .. job.id .. ':' .. text(job.version))
  end
end

-- settle makes the job's state follow from its attempts. to is given by the two
-- verbs that make a job final (finalize, cancel job); every other verb leaves it
-- out. A final job stays as it is (I5).
local function settle(to)
  if is_final(job.state) then return end
  if to then return move_job(to) end
  local any = {}
  for n = 1, job.attempts do
    if states[n] then any[states[n]] = true end
  end
  if any.running then return move_job('running') end
  if any.starting then return move_job('queued') end
  if any.unknown then return move_job('unknown') end
  return move_job('failed')
end

-- blame records why the job failed, for settle to have a reason.
local function blame(code, message, n, provider)
  set('error_code', code)
  set('error_message', message or '')
  set('error_attempt', n or '')
  set('error_provider', provider or '')
end

-- include: hook
-- Settling: the only place that sets a job's state (design §2).

-- call_off asks for a call that may be running at the provider to be cancelled
-- there: a reminder, for providers are not asked from inside a script.
local function call_off(n, from)
  if from == 'running' or from == 'unknown' then remind('cancel', n, now) end
end

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
      call_off(n, from)
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
  redis.call('PEXPIREAT', PREFIX .. 'key:' .. job.key_hash, text(now + math.max(KEEP_JOB, KEEP_KEY)))
  redis.call('ZADD', DUE, text(expires), 'expire:' .. job.id .. ':' .. job.owner_hash)
end

-- unkeep takes the times to live off a job that is reopened: no key of a job
-- that has not ended carries one.
local function unkeep()
  unset('ended')
  unset('expires')
  redis.call('PERSIST', JOB)
  redis.call('PERSIST', PREFIX .. 'key:' .. job.key_hash)
  redis.call('ZREM', DUE, 'expire:' .. job.id .. ':' .. job.owner_hash)
end

-- count_open keeps the number of an owner's jobs of this partition that have not
-- ended, for those who limit it: what is not open is not in the hash.
local function count_open(by)
  local open = PREFIX .. 'open'
  if redis.call('HINCRBY', open, job.owner_hash, by) <= 0 then redis.call('HDEL', open, job.owner_hash) end
end

local function move_job(to)
  local from = job.state
  if from == to then return end
  set('state', to)
  redis.call('ZREM', PREFIX .. 'state:' .. from, job.id)
  redis.call('ZADD', PREFIX .. 'state:' .. to, job.created, job.id)
  if is_ended(from) and not is_ended(to) then
    unkeep()
    count_open(1)
  end
  if is_ended(to) and not is_ended(from) then
    keep()
    count_open(-1)
  end
  if is_final(to) then close_open(to) end
  announce(to)
  if to == 'failed' then
    redis.call('ZADD', DUE, text(now), 'ticket:' .. job.id .. ':' .. text(job.version))
  end
end

-- state_of_attempts is the state a job that is not final has by its attempts.
local function state_of_attempts()
  local any = {}
  for n = 1, job.attempts do
    if states[n] then any[states[n]] = true end
  end
  if any.running then return 'running' end
  if any.starting then return 'queued' end
  if any.unknown then return 'unknown' end
  return 'failed'
end

-- settle makes the job's state follow from its attempts. to is given by the two
-- verbs that make a job final (finalize, cancel job); every other verb leaves it
-- out. A final job stays as it is (I5).
local function settle(to)
  if is_final(job.state) then return end
  move_job(to or state_of_attempts())
end

-- blame records why the job failed, for settle to have a reason.
local function blame(code, message, n, provider)
  set('error_code', code)
  set('error_message', message or '')
  set('error_attempt', n or '')
  set('error_provider', provider or '')
end

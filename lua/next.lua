-- include: settle
-- The next attempt: opening it, and planning it after a definite failure (§6).

local WAKE_GRACE = 5000 -- ms the opener has to enqueue before the sweeper does

local GAP = 100 -- attempt numbers left out after the store went back in time

-- went_back gives the partition's epoch if it has gone back in time since the job's
-- latest attempt was opened.
local function went_back()
  local epoch = given(redis.call('GET', PREFIX .. 'epoch'))
  return epoch ~= job.epoch and epoch
end

-- next_number is the number of the next attempt. Where time went back, numbers that
-- a provider may know from the lost future are stepped over: an attempt id is never
-- used twice.
local function next_number()
  local epoch = went_back()
  if not epoch then return job.attempts + 1 end
  set('epoch', epoch)
  return job.attempts + GAP
end

-- add_attempt opens the next attempt, to start in wait ms. Callers have made sure
-- that no other attempt is open (I4), racing aside.
local function add_attempt(provider, wait, reason, certificate)
  local n = next_number()
  job.attempts = n
  states[n], providers[n] = 'starting', provider
  set('attempts', n)
  set('provider', provider)
  set_attempt(n, 'state', 'starting')
  set_attempt(n, 'provider', provider)
  set_attempt(n, 'created', now)
  set_attempt(n, 'not_before', now + wait)
  set_attempt_given(n, 'certificate', certificate)
  redis.call('ZADD', DUE, text(now + wait + WAKE_GRACE), due_name('wake', n))
  if job.start_by then remind('start', n, tonumber(job.start_by) + 1) end
  event('open', n, '', 'starting', reason)
  if job.state == 'failed' then
    raise()
    for _, field in ipairs({ 'error_code', 'error_message', 'error_attempt', 'error_provider' }) do unset(field) end
  end
  settle()
  return n
end

-- provider_after is the route's next provider after the one of attempt n, and
-- what allows a fail-over to it: nil when there is none; nil, its name when
-- nothing allows it.
local function provider_after(policy, n)
  for i, candidate in ipairs(policy.providers) do
    local following = policy.providers[i + 1]
    if candidate.name == providers[n] and following then
      if policy.failover == 'untested' then return following.name, 'untested' end
      if given(following.certificate) then return following.name, following.certificate end
      return nil, following.name
    end
  end
  return nil
end

-- count_attempts tells how many attempts there are, in all or at one provider.
-- Numbers can have gaps, so they are counted.
local function count_attempts(provider)
  local count = 0
  for n = 1, job.attempts do
    if states[n] and (not provider or providers[n] == provider) then count = count + 1 end
  end
  return count
end

-- backoff is the wait before try number tries+1 at the same provider, in ms.
local function backoff(policy, tries)
  return math.min(policy.backoff_max, policy.backoff_initial * 2 ^ (tries - 1))
end

-- plan decides what follows the definite, retryable failure of attempt n:
-- provider, wait and the certificate that allows it; or nil, the code that says
-- why nothing does, and the provider it speaks of. policy is the route's, as
-- the caller's configuration has it:
--   {max_attempts, tries, backoff_initial, backoff_max, failover,
--    providers: [{name, certificate}]}
local function plan(policy, n, retry_after)
  if count_attempts() >= policy.max_attempts then return nil, 'attempts_spent' end
  local provider = providers[n]
  local tries = count_attempts(provider)
  if tries < policy.tries then
    return provider, math.max(backoff(policy, tries), retry_after or 0), nil
  end
  local following, certificate = provider_after(policy, n)
  if following then return following, 0, certificate end
  if not certificate then return nil, 'providers_spent' end
  return nil, 'failover_not_certified', certificate
end

-- follow opens the planned attempt after n failed, or lets the job fail with
-- the reason. It returns the number of the attempt opened, or nil.
--
-- Where time went back, the attempt that would follow may have been opened, and
-- made, in the lost future already: then one is opened only where a person has
-- decided so (I2).
local function follow(policy, n, code, message, retryable, retry_after, decided)
  if not retryable then
    blame(code, message, n)
    settle()
    return nil
  end
  local provider, wait, certificate = plan(policy, n, retry_after)
  if provider and went_back() and not decided then
    blame('store_rewound', code, n)
    settle()
    return nil
  end
  if provider then
    local why = provider == providers[n] and 'retry' or ('failover:' .. certificate)
    return add_attempt(provider, wait, why, certificate)
  end
  local refusal, about = wait, certificate
  if refusal == 'failover_not_certified' then
    blame(refusal, message, n, about)
  else
    blame(code, message, n)
  end
  settle()
  return nil
end

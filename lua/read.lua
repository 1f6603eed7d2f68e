-- read gives a job and its attempts as they are at one instant; it writes nothing.
--
-- KEYS 1 job  2 attempts
-- Answers {fields of the job, fields of its attempts}, both empty when it is not there.

return { redis.call('HGETALL', KEYS[1]), redis.call('HGETALL', KEYS[2]) }

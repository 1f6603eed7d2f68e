-- read gives a job and its attempts as they are at one instant; it writes nothing.
--
-- KEYS 1 job  2 data
-- Answers {fields of job, fields of data}, both empty when it is not there.

return { redis.call('HGETALL', KEYS[1]), redis.call('HGETALL', KEYS[2]) }

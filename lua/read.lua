-- include: schema
-- read gives a job and its attempts as they are at one instant; it writes nothing.
--
-- KEYS 1 job  2 data; without it, what is small alone
-- Answers {fields of job, fields of data}, both empty when it is not there; of a
-- newer schema's v alone.

return record_of(KEYS[1], KEYS[2])

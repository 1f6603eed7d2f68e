-- include: whole
-- read gives a job and its attempts as they are at one instant; it writes nothing.
--
-- KEYS 1 job
-- ARGV 1 all, or small: what is small alone
-- Answers a list of fields and values, empty when the job is not there; of a newer
-- schema v alone.

return record_of(KEYS[1], ARGV[1] == 'all')

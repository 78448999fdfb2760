-- reset: forgets what a key used of a policy.
--
-- KEYS     the states of its limits
-- RETURNS  {how many there were}
return {redis.call('DEL', unpack(KEYS))}

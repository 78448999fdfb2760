-- self_test: what the limiter wants to know of a master when a connection to it comes up. Reads only.
--
-- KEYS[1]  any key of the limiter, which leads the call to the master in question
-- RETURNS  {seconds, microseconds of the server's clock; the text of INFO, or '' where the user may not ask for it}
local time = redis.call('TIME')
local info = redis.pcall('INFO')
return {tonumber(time[1]), tonumber(time[2]), type(info) == 'string' and info or ''}

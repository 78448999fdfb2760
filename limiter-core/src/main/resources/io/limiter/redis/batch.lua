-- batch: decides a list of requests. A request is a list of charges on limits: the script looks at all limits of a
-- request
-- first, then charges all of them, or none. It is put together when its class loads: lines above these define the
-- functions reservations, which returns those of holds.lua, and algorithm, which returns those of an algorithm by its
-- name. They are the parts of the other files between their marks.
--
-- KEYS     the limits' states, request by request, each followed by the key of its records, if it has holds. Keys of
--          several slots of a cluster can't be declared: then it is the first state, and its records, which find the
--          server, and all of them are in ARGV
-- ARGV     1 now_us ('' = server TIME)
--          2 number of forms; below 0 if names of keys follow: how many, then the names. Then the forms. A form is the
--          number of its limits, then 5 values for each limit: algorithm (as in Algorithm.text(), and '+holds' where it
--          has them), permits, limit, period_us and burst as in the algorithm files. If the number is negative, each
--          limit
--          has 9 values: also ARGV 6 to 9 of the algorithm files.
--          The mode of a form is that of its first limit. Some modes exist only here: 'see' returns whether the request
--          is
--          allowed, with the numbers of a call that takes nothing; 'ask' does the same as the first step of a take;
--          'reset'
--          deletes the states; 'reserve' and 'settle' are those of holds.lua. In a refund ('back:<stamp_us>') each
--          limit
--          is refunded by itself. A block comes after the limits of its policy, and its options say how many they are
--          ('of=<n>'); it counts a denial when one of these denies.
--          Then for each request: its form (1 is the first), how many times it is asked (not of reservations and
--          settlements), and of each limit: to reserve the id; to settle the id, the window's end and the actual
--          permits,
--          in hexadecimal digits, which take less time to read; in flight what concurrent.lua has in ARGV from 10 on.
--          Form and times are left out where there is one form and each request is asked once
-- RETURNS  one array, because Redis before 7 writes each nested one to the connection by a system call of its own. For
--          each request: how many integers follow, and these: 6 for each of its limits, as in the algorithm files, for
--          each
--          time that it was asked until it was denied, because each later time is the same. If an error kept a request
--          from a decision: -1, or -2 if it had begun to write, and the text of that error. For one request that is
--          asked
--          once: its integers, or the error. Of several requests, for a settlement of one limit only the last integer
-- EXPIRES  as in the algorithm files
local number = tonumber
local given = ARGV[1] ~= ''
local now = number(ARGV[1])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000000 + time[2]
end
local names, skip, at, form_count = KEYS, 0, 3, number(ARGV[2])
if form_count < 0 then names, skip, at, form_count = ARGV, 3, 4 + number(ARGV[3]), -form_count end
local made, changed, held = {}, false, nil

local function functions_of(name)
  made[name] = made[name] or algorithm(name)
  return made[name]
end

-- One limit of a form, at that place: what the algorithm files call c, its functions f, how many keys and values of its
-- own
-- each request has.
local function limit_at(at, width)
  local name = ARGV[at]
  local c = {n = number(ARGV[at + 1]), limit = number(ARGV[at + 2]), period = number(ARGV[at + 3]),
    burst = number(ARGV[at + 4]), now = now, given = given, id = '', request = '', options = '', mode = '', keys = 1,
    values = 0, f = false, key = '', records = false, s = false, allows = false, writes = false, stamp = false,
    of = false, base = ''}
  if width == 9 then c.id, c.mode, c.request, c.options = ARGV[at + 5], ARGV[at + 6], ARGV[at + 7], ARGV[at + 8] end
  if string.sub(name, -6) == '+holds' then
    name = string.sub(name, 1, -7)
    local base, most, rest = string.match(c.options, '^(.-),?holds=(%d+)(.*)$')
    if not base then error('LIMITEROPTIONS ARGV[9] has no holds: ' .. c.options) end
    local ttl, keep = string.match(rest, '^,ttl=(%d+),keep=(%d+)$')
    c.options, c.most, c.ttl, c.keep, c.keys = base, number(most), number(ttl or ''), number(keep or ''), 2
    held = held or reservations()
    c.f, c.plain, c.is_bucket = held, functions_of(name), name == 'token-bucket'
    c.state = c.plain.state()
    c.state.held, c.state.reserved, c.state.wait = 0, false, false
    c.values = c.mode == 'reserve' and 1 or c.mode == 'settle' and 3 or 0
  else
    c.f = functions_of(name)
    c.state = c.f.state()
    if name == 'concurrent' then c.values = c.request == 'renew' and 2 or 1 end
  end
  if c.options ~= '' then c.of, c.base = number(string.match(c.options, 'of=(%d+)') or ''), c.options end
  return c
end

-- A form: its limits, how many keys and values of its own each request has, its mode, whether its requests are asked
-- once;
-- the stamp of a refund. Returns where the next form begins.
local function form_at(at)
  local count, width = number(ARGV[at]), 5
  if count < 0 then count, width = -count, 9 end
  local form = {keys = 0, values = 0}
  at = at + 1
  for i = 1, count do
    local c = limit_at(at, width)
    form[i], form.keys, form.values = c, form.keys + c.keys, form.values + c.values
    form.once = form.once or c.most and c.values > 0
    at = at + width
  end
  form.mode = form[1].mode == '' and '' or string.match(form[1].mode, '^%l*')
  form.takes = form.mode == '' or form.mode == 'reserve'
  form.writes = form.takes or form.mode == 'ask' or form.mode == 'back' or form.mode == 'settle'
  for i = 1, count do
    form[i].writes = form.writes
    if form.mode == 'back' then form[i].stamp = number(string.match(form[i].mode, '^back:(%d+)$') or '') end
  end
  return form, at
end

-- Gives the limits their keys, and what distinguishes the request.
local function bind(form, key, own)
  for _, c in ipairs(form) do
    c.key, c.records = names[skip + key], c.keys == 2 and names[skip + key + 1]
    if c.most and c.values > 0 then
      c.hold = ARGV[own]
      if c.values == 3 then c.window, c.actual = number(ARGV[own + 1], 16), number(ARGV[own + 2], 16) end
    elseif c.values > 0 then
      c.options = own
    end
    key, own = key + c.keys, own + c.values
  end
end

-- Looks at all limits. Returns whether all allow.
local function look_at_all(form)
  local denied = 0
  for i, c in ipairs(form) do
    c.s, c.allows = nil, c.n == 0
    if c.of then
      local counts = (form.takes or form.mode == 'ask') and denied > 0 and denied >= i - c.of
      c.options = counts and c.base .. ',denied=1' or c.base
    end
    if c.limit > 0 then
      -- What has run out is settled, and written, here.
      changed = changed or c.writes and c.most ~= nil
      c.s = c.state
      c.f.look(c, c.s)
      if c.n > 0 and form.mode ~= 'back' and form.mode ~= 'settle' then c.allows = c.f.admits(c, c.s) end
    end
    if not c.allows then denied = i end
  end
  return denied == 0
end

local function append(reply, size, c, allows, ...)
  local retry, remaining, next_us, reset, used = ...
  reply[size + 1], reply[size + 2], reply[size + 3] = allows and 1 or 0, remaining, (allows or c.stamp) and 0 or retry
  reply[size + 4], reply[size + 5], reply[size + 6] = next_us, reset, used
  return size + 6
end

-- Charges one limit if all allow, gives back or settles, writes, and answers.
local function finish(form, c, all, reply, size)
  local s, allows = c.s, c.allows and form.mode ~= 'back'
  local settles = form.mode == 'settle'
  if not s then return append(reply, size, c, allows or settles, -1, 0, 0, 0, settles and 0 or now) end
  local settled = nil
  if c.n > 0 and form.mode == 'back' then
    changed = true
    allows = c.f.back(c, s, c.stamp)
  elseif settles then
    settled = c.f.settle(c, s, c.window, c.actual)
  elseif c.n > 0 and all and (form.takes or form.mode == 'look') then
    c.f.take(c, s)
  end
  if c.n > 0 and form.writes and (s.changed or s.reserved and form.takes) then
    changed = true
    c.f.write(c, s)
  end
  if settled then return append(reply, size, c, true, 0, 0, 0, 0, settled) end
  return append(reply, size, c, allows, c.f.answer(c, s, allows))
end

-- A take of one limit, without an id: its state is read once and written once, however often it is asked.
local function take(c, times, reply, size)
  local f, s, granted = c.f, c.state, 0
  f.look(c, s)
  while granted < times and f.admits(c, s) do
    f.take(c, s)
    granted = granted + 1
    if granted < times then size = append(reply, size, c, true, f.answer(c, s, true)) end
  end
  if s.changed or s.reserved then
    changed = true
    f.write(c, s)
  end
  return append(reply, size, c, granted == times, f.answer(c, s, granted == times))
end

local function reset(form, reply, size)
  changed = true
  for _, c in ipairs(form) do
    -- An error: a user who may not.
    local keys = c.records and {c.key, c.records} or {c.key}
    if type(redis.pcall('UNLINK', unpack(keys))) ~= 'number' then redis.call('DEL', unpack(keys)) end
    size = append(reply, size, c, c.n == 0, -1, 0, 0, 0, now)
  end
  return size
end

-- Appends the numbers of a request to a reply, which has so many already. Returns how many it has then.
local function decide(form, times, reply, size)
  local one = form[1]
  if form.mode == 'reset' then return reset(form, reply, size) end
  if #form == 1 and form.takes and one.n > 0 and one.limit > 0 then return take(one, times, reply, size) end
  repeat
    local all = look_at_all(form)
    for _, c in ipairs(form) do size = finish(form, c, all, reply, size) end
    times = times - 1
  until times == 0 or not all
  return size
end

-- The forms by their numbers, as texts.
local forms = {}
for i = 1, form_count do forms[tostring(i)], at = form_at(at) end
local reply, size, key, form, times = {}, 0, 1, forms['1'], 1
if form_count == 1 and skip == 0 and #KEYS == form.keys and at + form.values == #ARGV + 1 then
  bind(form, 1, at)
  decide(form, 1, reply, 0)
  return reply
end
local key_count = skip == 0 and #KEYS or number(ARGV[3])
local is_listed = form_count > 1 or #ARGV - at + 1 ~= key_count / form.keys * form.values
local function decide_all()
  while key <= key_count do
    if is_listed then form, at = forms[ARGV[at]], at + 1 end
    times = 1
    if is_listed and not form.once then times, at = number(ARGV[at]), at + 1 end
    bind(form, key, at)
    key, at, changed = key + form.keys, at + form.values, false
    reply[size + 1] = 0
    local after = decide(form, times, reply, size + 1)
    if form.mode == 'settle' and #form == 1 then
      -- Only the last number is of use.
      reply[size + 2] = reply[after]
      for i = after, size + 3, -1 do reply[i] = nil end
      after = size + 2
    end
    reply[size + 1], size = after - size - 1, after
  end
end
repeat
  local ok, failure = pcall(decide_all)
  if not ok then
    -- It ends one request; the others go on.
    for i = #reply, size + 3, -1 do reply[i] = nil end
    reply[size + 1] = changed and -2 or -1
    reply[size + 2] = type(failure) == 'table' and failure.err or tostring(failure)
    size = size + 2
  end
until ok or not form
return reply

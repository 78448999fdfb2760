-- batch: decides a list of requests. A request is a list of charges on limits: the script looks at all limits of a
-- request first, then charges all of them, or none. It is put together when its class loads: lines above these define
-- the function algorithm, which returns the functions of an algorithm by its name ('fixed+holds': those of holds.lua).
-- They are the parts of the other files between their marks.
--
-- KEYS     the limits' states, request by request, each followed by the key of its records, if it has any. Keys of
--          several slots of a cluster can't be declared: then it is the first state, and its records, which find the
--          server, and all of them are in ARGV
-- ARGV     1 now_us ('' = server TIME)
--          2 number of forms; below 0 if names of keys follow: how many, then the names. Then the forms. A form is the
--          number of its limits, then 5 values for each limit: algorithm (as in Algorithm.text(), and '+holds' where it
--          has them), permits, limit, period_us and burst as in the algorithm files. If the number is negative, each
--          limit has 9 values: also ARGV 6 to 9 of the algorithm files, and with holds 10 to 12. The mode of a form is
--          that of its first limit. Some modes exist only here: 'see' returns whether the request is allowed, with the
--          numbers of a call that takes nothing; 'ask' does the same as the first step of a take; 'reset' deletes the
--          states. In a refund ('back:<stamp_us>', of a settlement 'back:') each limit is refunded by itself. A block
--          comes after the limits of its policy, and its options say how many they are ('of=<n>'); it counts a denial
--          when one of these denies.
--          Then for each request: its form (1 is the first), how many times it is asked (not if a limit has values of
--          its own), and of each limit: of a reservation the id; of a settlement the id, the window's end and the
--          actual permits, in hexadecimal digits, which take less time to read; in flight the id of the call. Form and
--          times are left out where there is one form and each request is asked once
-- RETURNS  one array, because Redis before 7 writes each nested one to the connection by a system call of its own. For
--          each request: how many integers follow, and these: 6 for each of its limits, as in the algorithm files, for
--          each time that it was asked until it was denied, because each later time is the same. If an error kept a
--          request from a decision: -1, or -2 if it had begun to write, and the text of that error. For one request
--          that is asked once: its integers, or the error
-- EXPIRES  as in the algorithm files
local number = tonumber
local given, now = ARGV[1] ~= '', number(ARGV[1])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000000 + time[2]
end
local names, skip, at, form_count = KEYS, 0, 3, number(ARGV[2])
if form_count < 0 then names, skip, at, form_count = ARGV, 3, 4 + number(ARGV[3]), -form_count end
local made = {}

-- In place of an algorithm: of a limit of 0 permits, which has no state, and of one that is reset.
local function nothing(is_reset)
  local function no() return false end
  return {look = function() return {changed = is_reset} end, admits = no, back = no,
    write = function(c) redis.call('UNLINK', c.key, unpack({c.records})) end,
    answer = function() return -1, 0, 0, 0, now end}
end

-- A limit of a form, from its values on, and its mode. It is what the algorithm files call c, with: functions f and
-- state s, whether it is asked, else whether it allows, whether it may write, how many keys and values of its own each
-- request has. At most 16 fields, so that it is small.
local function limit_at(at, is_wide)
  local name = ARGV[at]
  local c = {n = number(ARGV[at + 1]), limit = number(ARGV[at + 2]), period = number(ARGV[at + 3]),
    burst = number(ARGV[at + 4]), now = now, id = '', options = '', key = '', keys = 1, values = 0, f = false, s = nil,
    asks = false, allows = true, writes = true}
  local mode, stamp = '', nil
  if given then c.given = true end
  if is_wide then
    mode, stamp = string.match(ARGV[at + 6], '^(%l*):?(%d*)$')
    c.id, c.request, c.options = ARGV[at + 5], ARGV[at + 7], ARGV[at + 8]
    if mode == 'back' then c.stamp = number(stamp) end
    if string.sub(name, -6) == '+holds' then
      c.keys, c.most, c.ttl, c.keep = 2, number(ARGV[at + 9]), number(ARGV[at + 10]), number(ARGV[at + 11])
      c.values = c.ttl and (mode == '' and 1 or mode == 'back' and 3) or 0
    elseif name == 'concurrent' then
      c.values = 1
    elseif name == 'allotment' then
      c.keys = 2
    elseif name == 'block' then
      c.of, c.base = number(string.match(c.options, 'of=(%d+)') or ''), c.options
    end
  end
  c.asks, c.allows = c.n > 0 and mode ~= 'back', c.n == 0 and mode ~= 'back'
  c.writes = mode == 'reset' or c.n > 0 and mode ~= 'look' and mode ~= 'see'
  local kind = (mode == 'reset' or c.limit == 0) and mode .. '0' or name
  made[kind] = made[kind] or kind == name and algorithm(name) or nothing(mode == 'reset')
  c.f = made[kind]
  return c, mode
end

-- A form: its limits, how many keys and values of its own each request has, whether its requests are asked once, and
-- whether they take, and count denials; whether the present one has begun to write. Returns where the next form begins.
local function form_at(at)
  local count = number(ARGV[at])
  local form = {keys = 0, values = 0, once = false, takes = true, counts = true, changed = false}
  at = at + 1
  for i = 1, math.abs(count) do
    local c, mode = limit_at(at, count < 0)
    form[i], form.keys, form.values = c, form.keys + c.keys, form.values + c.values
    form.once, form.takes = form.once or c.values > 0, form.takes and (mode == '' or mode == 'look')
    form.counts = form.counts and (mode == '' or mode == 'ask')
    at = at + (count > 0 and 5 or c.most and 12 or 9)
  end
  return form, at
end

-- Appends the numbers of a request, whose keys and values of its own begin there, to a reply, which has so many
-- already. A state is read once and written once, however often the request is asked. Returns how many numbers there
-- are then.
local function decide(form, times, key, own, reply, size)
  local count, is_first, last = #form, true, false
  form.changed = false
  repeat
    local denied = 0
    for i = 1, count do
      local c = form[i]
      if c.of then
        local counts = form.counts and denied > 0 and denied >= i - c.of
        c.options = counts and c.base .. ',denied=1' or c.base
      end
      if is_first then
        c.key = names[skip + key]
        if c.keys == 2 then c.records = names[skip + key + 1] end
        if c.values > 0 then c.id = ARGV[own] end
        if c.values == 3 then c.stamp, c.actual = number(ARGV[own + 1], 16), number(ARGV[own + 2], 16) end
        key, own = key + c.keys, own + c.values
        c.s = c.f.look(c, c.s)
      end
      if c.asks then c.allows = c.f.admits(c, c.s) end
      if not c.allows then denied = i end
    end
    is_first, last, times = false, times == 1 or denied > 0, times - 1
    for i = 1, count do
      local c = form[i]
      local f, s, allows = c.f, c.s, c.allows
      if denied == 0 and c.asks and form.takes then f.take(c, s) end
      if c.stamp and c.n > 0 then
        form.changed = true
        allows = f.back(c, s, c.stamp)
      end
      if last and s.changed and c.writes then
        form.changed = true
        f.write(c, s)
      end
      local retry, remaining, next_us, reset, used = f.answer(c, s, allows)
      -- In their order, one by one: else they are no array while the reply grows.
      reply[size + 1] = allows and 1 or 0
      reply[size + 2] = remaining
      reply[size + 3] = (allows or c.stamp) and 0 or retry
      reply[size + 4] = next_us
      reply[size + 5] = reset
      reply[size + 6] = used
      size = size + 6
    end
  until last
  return size
end

-- The forms by their numbers, as texts.
local forms = {}
for i = 1, form_count do forms[tostring(i)], at = form_at(at) end
local reply, size, key, form, times = {}, 0, 1, forms['1'], 1
if form_count == 1 and skip == 0 and #KEYS == form.keys and at + form.values == #ARGV + 1 then
  decide(form, 1, 1, at, reply, 0)
  return reply
end
local key_count = skip == 0 and #KEYS or number(ARGV[3])
local is_listed = form_count > 1 or #ARGV - at + 1 ~= key_count / form.keys * form.values
local function decide_all()
  while key <= key_count do
    if is_listed then form, at = forms[ARGV[at]], at + 1 end
    times = 1
    if is_listed and not form.once then times, at = number(ARGV[at]), at + 1 end
    local from, own = key, at
    key, at = key + form.keys, at + form.values
    reply[size + 1] = 0
    local after = decide(form, times, from, own, reply, size + 1)
    reply[size + 1], size = after - size - 1, after
  end
end
repeat
  local ok, failure = pcall(decide_all)
  if not ok then
    -- It ends one request; the others go on.
    for i = #reply, size + 3, -1 do reply[i] = nil end
    reply[size + 1] = form and form.changed and -2 or -1
    reply[size + 2] = type(failure) == 'table' and failure.err or tostring(failure)
    size = size + 2
  end
until ok or not form
return reply

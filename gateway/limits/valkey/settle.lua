-- Ends an admitted request, or cancels its admission.
-- KEYS: the same as for its admission.
-- ARGV: milliseconds since 1970 or an empty string, the session, the second of the admission, the requests
-- and tokens to add, and the tokens that were reserved. Negative amounts correct the second of the admission,
-- positive amounts count now.

local now, session, takenIn = clock(ARGV[1]), ARGV[2], tonumber(ARGV[3])
local amounts = { r = tonumber(ARGV[4]), t = tonumber(ARGV[5]), f = -tonumber(ARGV[6]) }
local minutes = {}
for index = 1, #KEYS, 2 do minutes[#minutes + 1] = KEYS[index] end
local second = currentSecond(now, minutes)

for place, minute in ipairs(minutes) do
  advance(minute, second)
  for kind, amount in pairs(amounts) do
    local at = amount < 0 and takenIn or second
    if amount ~= 0 and at > second - minuteSeconds and at <= second then add(minute, kind, at, amount) end
  end
  if redis.call('HINCRBY', KEYS[place * 2], session, -1) <= 0 then
    redis.call('HDEL', KEYS[place * 2], session)
  end
end
return 0

-- A request that was taken is over, or was not made after all.
-- KEYS: as they were when it was taken.
-- ARGV: milliseconds since 1970 or nothing, the session, the second in which it was taken, and how many requests and tokens to add:
-- what is too much is given back where it was taken, what is missing is used now.

local now, session, takenIn = clock(ARGV[1]), ARGV[2], tonumber(ARGV[3])
local amounts = { r = tonumber(ARGV[4]), t = tonumber(ARGV[5]) }
local minutes = {}
for index = 1, #KEYS, 2 do minutes[#minutes + 1] = KEYS[index] end
local second = currentSecond(now, minutes)

for place, minute in ipairs(minutes) do
  advance(minute, second)
  for kind, amount in pairs(amounts) do
    local at = amount < 0 and takenIn or second
    if amount ~= 0 and at > second - minuteSeconds then add(minute, kind, at, amount) end
  end
  if redis.call('HINCRBY', KEYS[place * 2], session, -1) <= 0 then
    redis.call('HDEL', KEYS[place * 2], session)
  end
end
return 0

-- How a wrk script ends its run: wrk itself only knows a duration, and ends early on an interrupt.

local ffi = require("ffi")
ffi.cdef [[
    struct ledger_timespec { long seconds; long nanoseconds; };
    int clock_gettime(int clock, struct ledger_timespec *time);
    int getpid(void);
    int kill(int process, int signal);
]]

local CLOCK_MONOTONIC, SIGINT = 1, 2
local time = ffi.new("struct ledger_timespec")

local ending = {}

-- Seconds of a clock that never goes back.
function ending.now()
    ffi.C.clock_gettime(CLOCK_MONOTONIC, time)
    return tonumber(time.seconds) + tonumber(time.nanoseconds) / 1e9
end

function ending.stop()
    ffi.C.kill(ffi.C.getpid(), SIGINT)
end

return ending

#pragma once

#include <cstdint>
#include <fstream>
#include <string>

// The most memory that was resident so far, in bytes; 0 where the system does not say it so.
inline uint64_t
PeakMemory()
{
    std::ifstream status("/proc/self/status");
    std::string word;
    while (status >> word)
    {
        if (word == "VmHWM:")
        {
            uint64_t kib = 0;
            status >> kib;
            return kib * 1024;
        }
    }
    return 0;
}

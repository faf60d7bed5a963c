/* The packets of the open loop, as files of them have it: both programs below read the same. */
#ifndef ARRIVALS_H
#define ARRIVALS_H

#include <err.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct arrival {
    uint64_t at; /* ns */
    uint32_t random;
    uint16_t size; /* bytes, with the header of Ethernet */
    uint8_t flow;
    uint8_t ecn; /* the two bits */
};

#define LOST 'x'
#define DELIVERED '.'
#define MARKED 'M'

static inline void *whole(const char *name, size_t *size)
{
    FILE *file = fopen(name, "rb");
    void *bytes;
    if (!file || fseek(file, 0, SEEK_END))
        err(1, "%s", name);
    *size = ftell(file);
    rewind(file);
    bytes = malloc(*size + 1);
    if (!bytes || fread(bytes, 1, *size, file) != *size)
        err(1, "%s", name);
    fclose(file);
    return bytes;
}

/* The arrivals of a file, and the fates of as many packets, all lost so far. */
static inline struct arrival *arrivals(const char *name, size_t *n, char **fates)
{
    size_t size;
    struct arrival *found = whole(name, &size);
    *n = size / sizeof(*found);
    *fates = malloc(*n + 1);
    memset(*fates, LOST, *n);
    (*fates)[*n] = 0;
    return found;
}

#endif

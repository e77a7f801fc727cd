/*
 * As much of a JSON reader as a small plugin needs: finding a member of an object, reading a number or a string.
 * It never allocates, never reads beyond the text it was given, and takes anything that is not JSON as "not there".
 */
#ifndef JSON_H
#define JSON_H

#include <stddef.h>
#include <stdint.h>

/* A value inside a text; `len` is 0 where there is none. */
typedef struct json {
  const char *text;
  size_t len;
} json;

/* The member `name` of the object `value`. */
json json_member(json value, const char *name);

/* Reads a number that is not negative. Returns 0 if it is none. */
int json_number(json value, uint64_t *number);

/* Writes the string `value`, escapes resolved, into `out` (`size` bytes, with the NUL). Returns 0 if it is none or
 * does not fit. */
int json_string(json value, char *out, size_t size);

/* Writes `text` as a JSON string with its quotes into `out`. Returns 0 if it does not fit. */
int json_quote(const char *text, char *out, size_t size);

#endif

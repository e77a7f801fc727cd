#include "json.h"

#include <string.h>

static const json nothing = {NULL, 0};

static size_t skip_space(json v, size_t at) {
  while (at < v.len && strchr(" \t\r\n", v.text[at]) != NULL && v.text[at] != '\0')
    at++;
  return at;
}

/* The position after the string that begins at `at`, or 0. */
static size_t skip_string(json v, size_t at) {
  if (at >= v.len || v.text[at] != '"')
    return 0;
  for (at++; at < v.len; at++) {
    if (v.text[at] == '\\')
      at++;
    else if (v.text[at] == '"')
      return at + 1;
  }
  return 0;
}

/* The position after the value that begins at `at`, or 0. Brackets are counted, not matched by kind: what the
 * operator sends is well-formed. */
static size_t skip_value(json v, size_t at) {
  size_t depth = 0;
  while (at < v.len) {
    char c = v.text[at];
    if (c == '"') {
      at = skip_string(v, at);
      if (at == 0)
        return 0;
    } else if (c == '{' || c == '[') {
      depth++;
      at++;
    } else if (c == '}' || c == ']') {
      if (depth == 0)
        return at; /* the end of what this value is in */
      depth--;
      at++;
    } else if (c == ',' && depth == 0) {
      return at;
    } else {
      at++;
      continue;
    }
    if (depth == 0)
      return at;
  }
  return depth == 0 ? at : 0;
}

static int same(json v, size_t from, size_t to, const char *name) {
  return to - from == strlen(name) && memcmp(v.text + from, name, to - from) == 0;
}

json json_member(json v, const char *name) {
  size_t at = skip_space(v, 0);
  if (at >= v.len || v.text[at] != '{')
    return nothing;
  at++;
  for (;;) {
    size_t key, key_end, begin, end;
    key = skip_space(v, at);
    key_end = skip_string(v, key);
    if (key_end == 0)
      return nothing;
    at = skip_space(v, key_end);
    if (at >= v.len || v.text[at] != ':')
      return nothing;
    begin = skip_space(v, at + 1);
    end = skip_value(v, begin);
    if (end <= begin)
      return nothing;
    if (same(v, key + 1, key_end - 1, name)) {
      json found;
      found.text = v.text + begin;
      found.len = end - begin;
      return found;
    }
    at = skip_space(v, end);
    if (at >= v.len || v.text[at] != ',')
      return nothing;
    at++;
  }
}

int json_number(json v, uint64_t *number) {
  size_t at;
  uint64_t sum = 0;
  for (at = 0; at < v.len && v.text[at] >= '0' && v.text[at] <= '9'; at++) {
    uint64_t digit = (uint64_t)(v.text[at] - '0');
    if (sum > (UINT64_MAX - digit) / 10)
      return 0;
    sum = sum * 10 + digit;
  }
  if (at == 0 || skip_space(v, at) != v.len)
    return 0;
  *number = sum;
  return 1;
}

/* The character an escape stands for; -1 for those this reader does not know (\u....). */
static int escape(char c) {
  switch (c) {
  case '"':
  case '\\':
  case '/':
    return c;
  case 'b':
    return '\b';
  case 'f':
    return '\f';
  case 'n':
    return '\n';
  case 'r':
    return '\r';
  case 't':
    return '\t';
  default:
    return -1;
  }
}

int json_string(json v, char *out, size_t size) {
  size_t at, end = skip_string(v, 0), used = 0;
  if (end == 0)
    return 0;
  for (at = 1; at < end - 1; at++) {
    int c = (unsigned char)v.text[at];
    if (c == '\\')
      c = escape(v.text[++at]);
    if (c < 0 || used + 1 >= size)
      return 0;
    out[used++] = (char)c;
  }
  if (used >= size)
    return 0;
  out[used] = '\0';
  return 1;
}

int json_quote(const char *text, char *out, size_t size) {
  static const char hex[] = "0123456789abcdef";
  size_t used = 0;
  if (size < 3)
    return 0;
  out[used++] = '"';
  for (; *text != '\0'; text++) {
    unsigned char c = (unsigned char)*text;
    if (used + 8 > size)
      return 0;
    if (c == '"' || c == '\\') {
      out[used++] = '\\';
      out[used++] = (char)c;
    } else if (c < 0x20) {
      memcpy(out + used, "\\u00", 4);
      out[used + 4] = hex[c >> 4];
      out[used + 5] = hex[c & 15];
      used += 6;
    } else {
      out[used++] = (char)c;
    }
  }
  if (used + 2 > size)
    return 0;
  out[used++] = '"';
  out[used] = '\0';
  return 1;
}

/* An agent in C: the library's `partner`, by lines of JSON.

   python -m fiveup_env.portable host
   cc -o bot examples/bot.c -I. -L. -lfiveup -Wl,-rpath,.
   fiveup evaluate --agents "program:./bot,greedy" --deals 20 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fiveup.h"

/* The text after a name in a line, or NULL. */
static char *after(char *line, const char *name) {
  char *found = strstr(line, name);
  return found ? found + strlen(name) + strspn(found + strlen(name), " :\"") : NULL;
}

/* Decode base64 in place, and return the number of bytes. */
static size_t decode(char *text) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  size_t size = 0;
  unsigned bits = 0, count = 0;
  for (char *at = text; *at && strchr(digits, *at); at++) {
    bits = bits << 6 | (unsigned)(strchr(digits, *at) - digits);
    if ((count += 6) >= 8) text[size++] = (char)(bits >> (count -= 8));
  }
  return size;
}

int main(void) {
  char *line = NULL;
  size_t room = 0;
  fiveup_view view;
  while (getline(&line, &room, stdin) > 0 && !strstr(line, "\"quit\"")) {
    char *id = after(line, "\"id\""), *chance = after(line, "\"chance\"");
    char *views = after(line, "\"views\"");
    if (!id || !chance || !views) {
      puts("{\"type\":\"hello\",\"protocol\":\"fiveup-agent\",\"version\":1,\"views\":\"struct\"}");
    } else {
      char digits[16] = "", *moves = "";
      uint64_t key = strtoull(strncpy(digits, chance, 15), NULL, 16);
      printf("{\"type\":\"chosen\",\"id\":%ld,\"moves\":[", strtol(id, NULL, 10));
      for (size_t at = 0, size = decode(views); at + sizeof view <= size; at += sizeof view) {
        memcpy(&view, views + at, sizeof view);
        printf("%s%d", moves, (int)fiveup_heuristic(&view, FIVEUP_HEURISTIC_PARTNER, key + at));
        moves = ",";
      }
      puts("]}");
    }
    fflush(stdout);
  }
  free(line);
  return 0;
}

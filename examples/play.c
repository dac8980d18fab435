/* A whole game in C: `partner` against the small network, in the rules of five_up for two.

   python -m fiveup_env.portable host && python -m fiveup_env.portable weights student
   cc -o play examples/play.c -I. -L. -lfiveup -Wl,-rpath,. && ./play student.weights 7 */
#include <stdio.h>
#include <stdlib.h>

#include "fiveup.h"

static float *policy;
static int32_t policy_size;

static void read_policy(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file) {
    fprintf(stderr, "%s cannot be read\n", path);
    exit(1);
  }
  fseek(file, 0, SEEK_END);
  policy_size = (int32_t)(ftell(file) / (long)sizeof *policy);
  rewind(file);
  policy = malloc((size_t)policy_size * sizeof *policy);
  if (!policy || fread(policy, sizeof *policy, (size_t)policy_size, file) != (size_t)policy_size)
    exit(1);
  fclose(file);
}

static int32_t choose(const fiveup_view *view, uint64_t key) {
  float logits[FIVEUP_ACTIONS];
  if (view->seat == 0) return fiveup_heuristic(view, FIVEUP_HEURISTIC_PARTNER, key);
  return fiveup_network(view, policy, policy_size, logits);
}

int main(int count, char **arguments) {
  if (count < 2) {
    fprintf(stderr, "usage: %s POLICY.weights [SEED]\n", arguments[0]);
    return 2;
  }
  read_policy(arguments[1]);
  uint64_t seed = count > 2 ? strtoull(arguments[2], NULL, 10) : 1;
  fiveup_game game;
  fiveup_view view;
  int32_t phase = fiveup_new_game(&game, &fiveup_presets[FIVEUP_FIVE_UP][2 - 2], seed);
  for (uint64_t made = 0; phase == FIVEUP_PHASE_PLAYING; made++) {
    fiveup_look(&game, game.public_.turn, &view);
    phase = fiveup_move(&game, choose(&view, seed + made));
    if (phase == FIVEUP_PHASE_PLAYING) continue;
    printf("hand %d: partner %d, student %d\n", game.public_.hand_number, game.public_.scores[0],
           game.public_.scores[1]);
    if (phase == FIVEUP_PHASE_HAND_OVER) phase = fiveup_next_hand(&game);
  }
  if (phase < 0) {
    fprintf(stderr, "refused: %d\n", phase);
    return 1;
  }
  printf("%s wins\n", game.public_.winner == 0 ? "partner" : "student");
  free(policy);
  return 0;
}

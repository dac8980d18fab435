/* Self-play in C: an agent learns for ten seconds, then plays hands against `greedy`.

   python -m fiveup_env.portable host
   cc -O2 -o train examples/train.c -I. -L. -lfiveup -Wl,-rpath,. && ./train 10 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "fiveup.h"

enum { HANDS = 1000 };

static double seconds(void) {
  struct timespec now;
  timespec_get(&now, TIME_UTC);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Return the points a hand by which the policy is ahead, in seats 0 and 2. */
static double play(const fiveup_rules *rules, const float *policy, int32_t size) {
  float logits[FIVEUP_ACTIONS];
  double points = 0;
  for (uint64_t seed = 0; seed < HANDS; seed++) {
    fiveup_game game;
    fiveup_view view;
    int32_t phase = fiveup_new_game(&game, rules, seed);
    for (uint64_t made = 0; phase == FIVEUP_PHASE_PLAYING; made++) {
      fiveup_look(&game, game.public_.turn, &view);
      int32_t action = view.seat % 2 == 0 ? fiveup_network(&view, policy, size, logits)
                                          : fiveup_heuristic(&view, FIVEUP_HEURISTIC_GREEDY, made);
      phase = fiveup_move(&game, action);
    }
    points += game.public_.scores[0] - game.public_.scores[1];
  }
  return points / HANDS;
}

int main(int count, char **arguments) {
  double most = count > 1 ? atof(arguments[1]) : 10;
  const fiveup_rules *rules = &fiveup_presets[FIVEUP_FIVE_UP][4 - 2];
  fiveup_settings settings = fiveup_usual_settings;
  settings.width = 32;
  settings.seed = 7;
  int32_t size = fiveup_learning_size(&settings), policy_size = 0;
  uint8_t *run = size > 0 ? aligned_alloc(64, (size_t)size) : NULL;
  if (!run || fiveup_learning_begin(&settings, rules, NULL, run, size) < 0) return 1;
  const fiveup_run *head = (const fiveup_run *)run;
  double began = seconds();
  while (seconds() - began < most) {
    if (fiveup_learning_update(run, size) < 0) return 1;
    printf("%8lld decisions, entropy %.3f\n", (long long)head->decisions, head->figures[2]);
  }
  printf("%.0f decisions/s\n", (double)head->decisions / (seconds() - began));

  int32_t weights_size = fiveup_learning_weights(run, size, NULL, 0);
  policy_size = fiveup_learning_policy(&settings, NULL, NULL, 0);
  float *weights = malloc((size_t)weights_size * sizeof *weights);
  float *policy = malloc((size_t)policy_size * sizeof *policy);
  if (!weights || !policy) return 1;
  fiveup_learning_weights(run, size, weights, weights_size);
  fiveup_learning_policy(&settings, weights, policy, policy_size);
  printf("%+.2f points a hand against greedy, in %d hands\n", play(rules, policy, policy_size), HANDS);
  free(policy);
  free(weights);
  free(run);
  return 0;
}

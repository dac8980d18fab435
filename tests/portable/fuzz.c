/* Call every function with arguments of all kinds, and see that each is refused or answered:
   fuzz POLICY.weights CALLS [SEED]. Memory is allocated to the byte, so that valgrind sees every
   access outside. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fiveup.h"

static uint64_t state;

static uint64_t chance(void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

static uint64_t below(uint64_t bound) { return chance() % bound; }

static int32_t any_int(void) {
  static const int32_t odd[] = {-1, 0, 1, 4, 5, 27, 28, 119, 120, 121, INT32_MAX, INT32_MIN};
  return below(4) ? (int32_t)below(124) - 2 : odd[below(sizeof odd / sizeof *odd)];
}

static void spoil(void *memory, size_t size) {
  unsigned char *bytes = memory;
  if (below(2)) return;
  for (uint64_t k = below(4); k != UINT64_MAX; k--) bytes[below(size)] = (unsigned char)chance();
  if (!below(50))
    for (size_t k = 0; k < size; k++) bytes[k] = (unsigned char)chance();
}

static void *fresh(size_t size) {
  void *memory = malloc(size);
  if (!memory) abort();
  return memset(memory, 0x5a, size);
}

#define NEW(type, count) ((type *)fresh(sizeof(type) * (count)))

static long refused, answered;

static int32_t check(int32_t result, const char *name) {
  if (result <= FIVEUP_FAILED) {
    printf("%s failed: %d\n", name, result);
    exit(1);
  }
  if (result < 0) refused++;
  else answered++;
  return result;
}

/* Runs that learn, of which some bytes, or whole numbers, are others than what was learnt. */
static int learn(long calls) {
  static const uint64_t far[] = {0, UINT64_MAX, INT64_MAX, 1ull << 63, 0x7ff8ull << 48, 0x7ff0ull << 48};
  fiveup_settings settings = fiveup_usual_settings;
  settings.width = 4;
  settings.games = 70;
  settings.ticks = 5;
  settings.batch_size = 64;
  int32_t size = fiveup_learning_size(&settings);
  uint8_t *kept = aligned_alloc(64, (size_t)size), *run = aligned_alloc(64, (size_t)size);
  if (size <= 0 || !kept || !run) return 1;
  check(fiveup_learning_begin(&settings, &fiveup_presets[0][2], NULL, kept, size), "learning_begin");
  for (int k = 0; k < 3; k++) check(fiveup_learning_update(kept, size), "learning_update");
  for (long call = 0; call < calls; call++) {
    memcpy(run, kept, (size_t)size);
    uint64_t near = below(2) ? (uint64_t)size : 4096; /* settings and games, or all */
    for (uint64_t k = below(9); k > 0; k--) run[below(near)] = (unsigned char)chance();
    if (below(2)) memcpy(run + 8 * below(near / 8), &far[below(sizeof far / sizeof *far)], 8);
    check(fiveup_learning_update(run, below(9) ? size : any_int()), "learning_update");
    check(fiveup_learning_settle(run, size), "learning_settle");
    check(fiveup_learning_update(run, size), "learning_update");
  }
  free(kept);
  free(run);
  return 0;
}

int main(int count, char **arguments) {
  if (count < 3) return 2;
  FILE *file = fopen(arguments[1], "rb");
  if (!file) return 2;
  fseek(file, 0, SEEK_END);
  int32_t size = (int32_t)(ftell(file) / 4);
  rewind(file);
  float *policy = NEW(float, (size_t)size);
  if (fread(policy, 4, (size_t)size, file) != (size_t)size) return 2;
  fclose(file);
  long calls = atol(arguments[2]);
  state = count > 3 ? strtoull(arguments[3], NULL, 10) : 88172645463325252u;
  fiveup_game *game = NEW(fiveup_game, 1), *before = NEW(fiveup_game, 1), *good = NEW(fiveup_game, 1);
  fiveup_view *view = NEW(fiveup_view, 1);
  fiveup_rules *rules = NEW(fiveup_rules, 1);
  fiveup_options *options = NEW(fiveup_options, 1);
  fiveup_search *search = NEW(fiveup_search, 1);
  fiveup_picture *picture = NEW(fiveup_picture, 1);
  double *tried = NEW(double, 4 * 4 * 2), *by_side = NEW(double, 5);
  int8_t *mask = NEW(int8_t, FIVEUP_ACTIONS), *boneyard = NEW(int8_t, 28);
  int32_t *totals = NEW(int32_t, FIVEUP_ACTIONS), *points = NEW(int32_t, FIVEUP_ACTIONS);
  uint32_t *hands = NEW(uint32_t, 5), *digits = NEW(uint32_t, 4);
  float *logits = NEW(float, FIVEUP_ACTIONS);
  double *grid = NEW(double, FIVEUP_GRID * FIVEUP_GRID), *shares = NEW(double, 6 * 28);
  double *values = NEW(double, FIVEUP_ACTIONS), *errors = NEW(double, FIVEUP_ACTIONS);
  double *scores = NEW(double, FIVEUP_ACTIONS);
  check(fiveup_outlook(&fiveup_presets[0][0], grid), "outlook");
  if (learn(calls / 100)) return 1;
  for (long call = 0; call < calls; call++) {
    if (call % 64 == 0) {
      *rules = fiveup_presets[below(11)][below(4)];
      if (fiveup_new_game(good, rules, chance()) == 0) fiveup_play_randomly(good, (int32_t)below(40), chance());
    }
    *game = *good;
    *before = *game;
    switch (below(15)) {
      case 0:
        *rules = fiveup_presets[below(11)][below(4)];
        spoil(rules, sizeof *rules);
        check(fiveup_new_game(game, rules, chance()), "new_game");
        break;
      case 1:
        spoil(game, sizeof *game);
        check(fiveup_next_hand(game), "next_hand");
        break;
      case 2:
        *rules = game->public_.rules;
        for (int k = 0; k < 5; k++) hands[k] = game->hands[k];
        for (int k = 0; k < 28; k++) boneyard[k] = game->order[k];
        spoil(hands, 20);
        spoil(boneyard, 28);
        if (check(fiveup_new_game_with(game, rules, chance(), hands, boneyard, any_int()), "new_game_with") < 0 &&
            memcmp(game, before, sizeof *game))
          return printf("a refused deal changed the game\n"), 1;
        break;
      case 3:
        spoil(game, sizeof *game);
        check(fiveup_next_hand_with(game, hands, boneyard, any_int()), "next_hand_with");
        break;
      case 4: {
        spoil(game, sizeof *game);
        int32_t allowed = check(fiveup_legal(game, mask), "legal");
        for (int k = 0; allowed >= 0 && k < FIVEUP_ACTIONS; k++) allowed -= mask[k];
        if (allowed > 0) return printf("the mask has fewer actions than were counted\n"), 1;
        break;
      }
      case 5:
        spoil(game, sizeof *game);
        *before = *game;
        if (check(fiveup_move(game, any_int()), "move") < 0 && memcmp(game, before, sizeof *game))
          return printf("a refused move changed the game\n"), 1;
        break;
      case 6:
        spoil(game, sizeof *game);
        check(fiveup_outcomes(game, totals, points), "outcomes");
        break;
      case 7:
        spoil(game, sizeof *game);
        check(fiveup_play_randomly(game, (int32_t)below(30), chance()), "play_randomly");
        break;
      default: {
        if (fiveup_look(game, below(9) ? game->public_.turn : any_int(), view) < 0) break;
        spoil(view, sizeof *view);
        *options = (fiveup_options){(int32_t)below(3), (int32_t)below(5), 1 + (int32_t)below(3), (int32_t)below(2), (int32_t)below(2), 1, 0.05, 0.2};
        spoil(options, sizeof *options);
        switch (below(10)) {
          case 0: check(fiveup_legal_in_view(view, mask), "legal_in_view"); break;
          case 1: {
            fiveup_mistakes mistakes = {0.2, 0.3, 0.5, below(9) ? 1.0 : 2.0};
            spoil(&mistakes, sizeof mistakes);
            check(fiveup_heuristic(view, any_int() % 7, chance()), "heuristic");
            check(fiveup_casual(view, any_int() % 7, &mistakes, chance()), "casual");
            break;
          }
          case 2: check(fiveup_network(view, policy, below(9) ? size : any_int(), logits), "network"); break;
          case 3: check(fiveup_count_worlds(view, digits), "count_worlds"); break;
          case 4: check(fiveup_marginals(view, shares), "marginals"); break;
          case 5: check(fiveup_look(game, any_int(), view), "look"); break;
          case 6: {
            int8_t plays[28], arms[28];
            int32_t shown = view->public_.plies;
            memcpy(plays, view->public_.play_action, sizeof plays);
            for (int k = 0; k < 28; k++) arms[k] = below(4) ? -1 : (int8_t)any_int();
            check(fiveup_place_tiles(plays, arms, below(9) ? shown : any_int(), (int32_t)below(3),
                                     below(9) ? 46 : any_int(), below(9) ? shown : any_int(), picture), "place_tiles");
            break;
          }
          case 7: {
            int8_t moves[121];
            for (int k = 0; k < 121; k++) moves[k] = (int8_t)any_int();
            if (below(2)) moves[0] = -1;
            int32_t first = any_int(), end = below(9) ? first + (int32_t)below(5) : any_int();
            if (end - (int64_t)first > 4) break; /* right, but slow */
            check(fiveup_try_moves(view, moves, below(9) ? 1 : 4, any_int() % 7, any_int(), grid, chance(), first, end, tried), "try_moves");
            break;
          }
          case 8:
            check(fiveup_chances_after(game, grid, by_side), "chances_after");
            check(fiveup_worth_of_deal(game, grid, by_side), "worth_of_deal");
            check(fiveup_chances_at_start(rules, grid, by_side), "chances_at_start");
            break;
          default:
            if (check(fiveup_search_begin(view, options, below(9) ? policy : NULL, size, below(9) ? grid : NULL,
                                          chance(), search), "search_begin") < 0) break;
            spoil(search, below(2) ? sizeof search->seen : sizeof *search);
            if (search->options.weighed > 3) break; /* right, but slow */
            check(fiveup_search_on(search, below(9) ? grid : NULL, 0, (int32_t)below(5)), "search_on");
            check(fiveup_search_result(search, values, errors, scores), "search_result");
        }
      }
    }
  }
  printf("%ld calls: %ld answered, %ld refused\n", calls, answered, refused);
  free(policy), free(game), free(before), free(good), free(view), free(rules), free(options);
  free(search), free(mask), free(boneyard), free(totals), free(points), free(hands), free(digits);
  free(logits), free(grid), free(shares), free(values), free(errors), free(scores);
  free(picture), free(tried), free(by_side);
  return 0;
}

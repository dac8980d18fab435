/* Between Python and compiled code: arguments become slots of 64 bits, and slots become results.

   Python's functions are those of its stable interface, and are handed in by `native/library.py`,
   so that this is linked against nothing: one object serves all versions of Python.

   `native.py` includes before this a type, `Run`, and `levels`: for each level of processors, the
   functions that are called with slots. */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(_WIN32)
#define SHOWN __declspec(dllexport)
#include <malloc.h>
int SwitchToThread(void);
#else
#define SHOWN __attribute__((visibility("default")))
int sched_yield(void);
#endif

typedef struct Object Object;
enum { SLOTS = 1024, RESULTS = 64 };

/* --- What is handed in: functions and objects of Python, in the order of `library.py` */

static struct {
  Object *(*from_int)(long long), *(*from_word)(unsigned long long), *(*from_bool)(long);
  Object *(*from_float)(double), *(*new_tuple)(ptrdiff_t);
  long long (*as_int)(Object *);
  unsigned long long (*as_word)(Object *);
  double (*as_float)(Object *);
  int (*is_true)(Object *), (*is_instance)(Object *, Object *);
  int (*is_equal)(Object *, Object *, int), (*set_item)(Object *, ptrdiff_t, Object *);
  ptrdiff_t (*tuple_size)(Object *);
  Object *(*tuple_item)(Object *, ptrdiff_t), *(*occurred)(void);
  Object *(*call)(Object *, ...), *(*method)(const void *, Object *, Object *);
  void *(*address)(Object *, const char *);
  Object *(*capsule)(void *, const char *, void *);
  void (*increase)(Object *), (*decrease)(Object *);
  void *(*release)(void);
  void (*acquire)(void *);
  Object *none, *array, *tuple, *refuse;
  intptr_t head; /* where the fields of an object begin */
} python;

typedef struct {
  Object *object;
  intptr_t size;
} Dtype;

static Dtype *dtypes;

/* An array of NumPy: its fields are a part of NumPy's binary interface. */
typedef struct {
  char *data;
  int dimensions;
  intptr_t *shape, *strides;
  Object *base, *dtype;
  int flags;
} Fields;

enum { CONTIGUOUS = 0x1, ALIGNED = 0x100 };

/* --- Memory of compiled code: a block has its count of owners at its head, 64 bytes before it */

typedef struct {
  int64_t owners;
  void *destructor, *data_of_it;
  char *data;
  int64_t size;
  void *allocator;
} Block;

Block *NRT_MemInfo_alloc_aligned(size_t size, uint32_t align) {
  (void)align;
  size_t whole = (size + 127) / 64 * 64;
#if defined(_WIN32)
  Block *block = _aligned_malloc(whole, 64);
#else
  void *memory = NULL;
  Block *block = posix_memalign(&memory, 64, whole) ? NULL : memory;
#endif
  if (block == NULL) return NULL;
  *block = (Block){.owners = 1, .data = (char *)block + 64, .size = (int64_t)size};
  return block;
}

Block *NRT_MemInfo_alloc(size_t size) { return NRT_MemInfo_alloc_aligned(size, 64); }

void *NRT_Allocate(size_t size) {
  Block *block = NRT_MemInfo_alloc_aligned(size, 64);
  return block ? block->data : NULL;
}

void NRT_MemInfo_call_dtor(Block *block) {
#if defined(_WIN32)
  _aligned_free(block);
#else
  free(block);
#endif
}

void NRT_Free(void *data) { NRT_MemInfo_call_dtor((Block *)((char *)data - 64)); }

/* What compiled code names when it raises an error; `call` says it. */
Object *PyExc_RuntimeError = NULL;

void PyErr_SetString(void *kind, const char *text) {
  (void)kind;
  (void)text;
}

/* Find the strides of an array in another shape: all arrays here are contiguous. */
int numba_attempt_nocopy_reshape(intptr_t dimensions, const intptr_t *shape, const intptr_t *strides,
                                 intptr_t count, const intptr_t *new_shape, intptr_t *new_strides,
                                 intptr_t size, int in_fortran_order) {
  (void)dimensions, (void)shape, (void)strides, (void)in_fortran_order;
  for (intptr_t k = count; k-- > 0; size *= new_shape[k]) new_strides[k] = size;
  return 1;
}

int fiveup_give_way(void) {
#if defined(_WIN32)
  return SwitchToThread();
#else
  return sched_yield();
#endif
}

/* --- Arguments and results

   A form is a text. `i`, `w`, `b` and `d` are a whole number, an unsigned one, whether something
   holds, and a float; `n` is None. `A` is a contiguous array, with its dtype and its number of
   dimensions; `(` a tuple, with its size. These numbers are characters, from a space for 0. */

static int is_a(Object *given, Object *type) {
  return *(Object **)((char *)given + python.head - sizeof type) == type ||
         python.is_instance(given, type) == 1;
}

/* Write an argument into slots; return whether it has the form. */
static int take(Object *given, const char **form, int64_t **slots) {
  const char *f = *form;
  int64_t *s = *slots;
  switch (*f++) {
    case 'i':
      *s++ = python.as_int(given);
      break;
    case 'w':
      *s++ = (int64_t)python.as_word(given);
      break;
    case 'b':
      *s++ = python.is_true(given);
      break;
    case 'd': {
      double value = python.as_float(given);
      memcpy(s++, &value, sizeof value);
      break;
    }
    case 'A': {
      Dtype *dtype = &dtypes[*f++ - ' '];
      int dimensions = *f++ - ' ', needed = CONTIGUOUS | ALIGNED;
      if (!is_a(given, python.array)) return 0;
      const Fields *fields = (const Fields *)((char *)given + python.head);
      if (fields->dimensions != dimensions || (fields->flags & needed) != needed) return 0;
      if (fields->dtype != dtype->object) { /* equal ones take long to compare: the last is kept */
        if (python.is_equal(fields->dtype, dtype->object, /* == */ 2) != 1) return 0;
        python.increase(fields->dtype);
        dtype->object = fields->dtype;
      }
      int64_t *head = s;
      s += 5;
      for (int k = 0; k < dimensions; k++) *s++ = fields->shape[k];
      for (int k = 0; k < dimensions; k++) *s++ = fields->strides[k];
      head[0] = head[1] = 0; /* memory that Python owns */
      head[2] = 1;
      for (int k = 0; k < dimensions; k++) head[2] *= fields->shape[k];
      head[3] = dtype->size;
      head[4] = (int64_t)(intptr_t)fields->data;
      break;
    }
    case '(': {
      int size = *f++ - ' ';
      if (!is_a(given, python.tuple) || python.tuple_size(given) != size) return 0;
      for (int k = 0; k < size; k++)
        if (!take(python.tuple_item(given, k), &f, &s)) return 0;
      break;
    }
    default:
      return 0;
  }
  *form = f;
  *slots = s;
  return 1;
}

/* Return a result from slots. */
static Object *give(const char **form, const int64_t **slots) {
  double value;
  Object *made;
  switch (*(*form)++) {
    case 'i':
      return python.from_int(*(*slots)++);
    case 'w':
      return python.from_word((uint64_t) * (*slots)++);
    case 'b':
      return python.from_bool(*(*slots)++ & 1);
    case 'd':
      memcpy(&value, (*slots)++, sizeof value);
      return python.from_float(value);
    case '(': {
      int size = *(*form)++ - ' ';
      made = python.new_tuple(size);
      for (int k = 0; made != NULL && k < size; k++)
        python.set_item(made, k, give(form, slots));
      return made;
    }
    default:
      python.increase(python.none);
      return python.none;
  }
}

/* --- Functions: Python's own kind, which hold their number */

typedef struct {
  const char *name;
  void *call;
  int flags;
  const char *doc;
} Method;

typedef struct {
  Method method;
  Run *run;
  const char *form, *result;
  int count, number;
} Function;

/* Let `library.py` raise an error that says what is wrong. */
static void refuse(int number, Object *given) {
  Object *which = python.from_int(number);
  python.call(python.refuse, which, given, NULL);
  python.decrease(which);
}

static Object *call(Object *self, Object *const *given, ptrdiff_t count) {
  const Function *function = python.address(self, NULL);
  int64_t slots[SLOTS], results[RESULTS], *slot = slots;
  const int64_t *result = results;
  const char *form = function->form;
  ptrdiff_t taken = 0;
  if (count == function->count)
    while (taken < count && take(given[taken], &form, &slot)) taken++;
  if (taken < function->count || count != function->count) {
    if (python.occurred() == NULL) {
      Object *whole = python.new_tuple(count);
      for (ptrdiff_t k = 0; k < count; k++) {
        python.increase(given[k]);
        python.set_item(whole, k, given[k]);
      }
      refuse(function->number, whole);
      python.decrease(whole);
    }
    return NULL;
  }
  if (python.occurred() != NULL) return NULL; /* one is not a number */
  void *thread = python.release();
  int status = function->run(slots, results);
  python.acquire(thread);
  if (status != 0 && status != -2 /* of None */) {
    refuse(function->number, python.none);
    return NULL;
  }
  form = function->result;
  return give(&form, &result);
}

/* --- What `library.py` calls */

static Run *const *runs;

/* Take what is handed in, and the level of the processor. */
SHOWN void fiveup_begin(const void *handed_in, Dtype *known, int level) {
  memcpy(&python, handed_in, sizeof python);
  dtypes = known;
  runs = levels[level];
}

/* Return a function; its texts must live as long as it. */
SHOWN Object *fiveup_function(int k, const char *name, const char *doc, const char *form,
                              const char *result, int count) {
  Function *made = malloc(sizeof *made);
  if (made == NULL) abort();
  *made = (Function){{name, (void *)call, /* METH_FASTCALL */ 0x80, doc}, runs[k], form, result, count, k};
  return python.method(&made->method, python.capsule(made, NULL, NULL), NULL);
}

#if defined(__x86_64__) || defined(_M_X64)
#include <cpuid.h>

/* Return which of four levels of x86-64 the processor and its system have. */
SHOWN int fiveup_level(void) {
  unsigned a, b, c, d, low, high;
  if (!__get_cpuid(1, &a, &b, &c, &d)) return 1;
  const unsigned second = 1u << 0 | 1u << 9 | 1u << 13 | 1u << 19 | 1u << 20 | 1u << 23;
  if ((c & second) != second) return 1;
  const unsigned third = 1u << 12 | 1u << 22 | 1u << 27 | 1u << 28 | 1u << 29;
  if ((c & third) != third) return 2;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  (void)high;
  unsigned a7, b7, c7, d7, a8, b8, c8, d8;
  if (!__get_cpuid_count(7, 0, &a7, &b7, &c7, &d7)) return 2;
  if (!__get_cpuid(0x80000001, &a8, &b8, &c8, &d8)) return 2;
  const unsigned third7 = 1u << 3 | 1u << 5 | 1u << 8;
  if ((low & 6) != 6 || (b7 & third7) != third7 || !(c8 & 1u << 5)) return 2;
  const unsigned fourth = 1u << 16 | 1u << 17 | 1u << 28 | 1u << 30 | 1u << 31;
  return (low & 0xe6) == 0xe6 && (b7 & fourth) == fourth ? 4 : 3;
}
#else
SHOWN int fiveup_level(void) { return 0; }
#endif

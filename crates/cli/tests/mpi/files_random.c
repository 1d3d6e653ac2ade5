/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Random collective accesses to a file against a naive model: files_random SEED [alone]; `alone` where
 * every rank goes on doing its own.
 *
 * A file is cells of one int. Every rank draws everything from one seed, the views of all ranks and what
 * they write, and so knows what has to be in the file, holes among it. */
#include <string.h>
#include <unistd.h>

#include "check.h"

enum { CELLS = 6000, TILES = 3, RANKS_MAX = 6, EPOCHS = 24, FILE_BYTES = 4 * CELLS * TILES + 4200 };

static int me, ranks;
static unsigned long long state;

static unsigned draw(unsigned below) {
  state = state * 6364136223846793005ULL + 1442695040888963407ULL;
  return (unsigned)(state >> 33) % below;
}

/* What is in the file. */
static unsigned char model[FILE_BYTES];
static int length;

/* A view of a rank: cells of a tile of so many, whose places go up. */
struct view {
  int start, tile, count, is_external;
  int cells[CELLS];
};
static struct view views[RANKS_MAX];

/* Where in the file the element `index` of a view is. */
static int place(const struct view *view, int index) {
  int turn = index / view->count;
  return view->start + 4 * (turn * view->tile + view->cells[index % view->count]);
}

/* Gives the cells of a tile to ranks: of those that are written each has one owner, or none. */
static void draw_views(int is_written) {
  int tile = 1 + draw(draw(2) ? CELLS : 40), start = draw(3) ? draw(4096) : 0;
  int holes = draw(3) ? 0 : draw(4), is_regular = draw(2), external = draw(4) == 0;
  int run = 1 + draw(draw(2) ? 4 : 64), owner = 0;
  for (int r = 0; r < ranks; r++) {
    views[r].start = start + (is_written ? 0 : 4 * r);
    views[r].tile = tile;
    views[r].count = 0;
    views[r].is_external = external;
  }
  for (int i = 0; i < tile; i++) {
    if (i % run == 0) owner = is_regular ? i / run : (int)draw(ranks + holes);
    for (int r = 0; r < ranks; r++) {
      int has = is_written ? owner % (ranks + holes) == r : is_regular ? i / run % 2 == r % 2 : draw(3) > 0;
      if (has) views[r].cells[views[r].count++] = i;
    }
  }
}

/* The bytes of an int in the file. */
static void encode(const struct view *view, int value, unsigned char *bytes) {
  for (int i = 0; i < 4; i++) bytes[i] = (unsigned)value >> 8 * (view->is_external ? 3 - i : i);
}

static MPI_Info draw_hints(void) {
  MPI_Info hints;
  MPI_Info_create(&hints);
  const char *wanted[] = {"true", "true", "false", NULL}, *buffers[] = {"4096", "10000", "1000000", NULL};
  const char *nodes[] = {"1", "2", "3", NULL}, *value;
  if ((value = wanted[draw(4)]) != NULL) MPI_Info_set(hints, "collective_buffering", value);
  if ((value = buffers[draw(4)]) != NULL) MPI_Info_set(hints, "cb_buffer_size", value);
  if ((value = nodes[draw(4)]) != NULL) MPI_Info_set(hints, "cb_nodes", value);
  return hints;
}

static void set_view(MPI_File file) {
  struct view *own = &views[me];
  MPI_Datatype cells, tile;
  MPI_Type_create_indexed_block(own->count, 1, own->cells, MPI_INT, &cells);
  MPI_Type_create_resized(cells, 0, 4 * own->tile, &tile);
  MPI_Type_commit(&tile);
  /* The extent of an element is the same everywhere, the elements are not. */
  MPI_Datatype element = me % 2 && !own->is_external ? MPI_FLOAT : MPI_INT;
  MPI_Info hints = draw_hints();
  OK(MPI_File_set_view(file, own->start, element, tile, own->is_external ? "external32" : "native", hints));
  MPI_Info_free(&hints);
  MPI_Type_free(&cells);
  MPI_Type_free(&tile);
}

/* One access of all ranks: by which form, from which element on, of how many, and with gaps in memory. */
struct access {
  int form, first[RANKS_MAX], count[RANKS_MAX], stride[RANKS_MAX];
};

static struct access draw_access(void) {
  struct access drawn = {.form = draw(3)};
  int some = draw(2);
  for (int r = 0; r < ranks; r++) {
    int most = views[r].count * TILES;
    drawn.first[r] = most && draw(2) ? draw(most) : 0;
    drawn.count[r] = most && (some || draw(4)) ? (int)draw(most - drawn.first[r] + 1) : 0;
    if (some) drawn.count[r] = most - drawn.first[r];
    drawn.stride[r] = 1 + draw(2);
  }
  return drawn;
}

static int memory[2 * CELLS * TILES];

/* Carries it out; how many bytes it says. */
static int carry_out(MPI_File file, const struct access *drawn, int is_written) {
  int first = drawn->first[me], count = drawn->count[me], bytes = -1;
  MPI_Datatype type;
  MPI_Type_create_resized(MPI_INT, 0, 4 * drawn->stride[me], &type);
  MPI_Type_commit(&type);
  MPI_Status status;
  if (drawn->form > 0) OK(MPI_File_seek(file, first, MPI_SEEK_SET));
  if (is_written) {
    if (drawn->form == 0) OK(MPI_File_write_at_all(file, first, memory, count, type, &status));
    else if (drawn->form == 1) OK(MPI_File_write_all(file, memory, count, type, &status));
    else {
      OK(MPI_File_write_all_begin(file, memory, count, type));
      OK(MPI_File_write_all_end(file, memory, &status));
    }
  } else {
    if (drawn->form == 0) OK(MPI_File_read_at_all(file, first, memory, count, type, &status));
    else if (drawn->form == 1) OK(MPI_File_read_all(file, memory, count, type, &status));
    else {
      OK(MPI_File_read_all_begin(file, memory, count, type));
      OK(MPI_File_read_all_end(file, memory, &status));
    }
  }
  MPI_Get_count(&status, MPI_BYTE, &bytes);
  MPI_Type_free(&type);
  return bytes;
}

static int value_of(int epoch, int rank, int index) {
  return (epoch * RANKS_MAX + rank) * 100003 + index * 7919 + 1;
}

static void write_some(MPI_File file, int epoch) {
  struct access drawn = draw_access();
  for (int i = 0; i < drawn.count[me]; i++) memory[i * drawn.stride[me]] = value_of(epoch, me, i);
  CHECK(carry_out(file, &drawn, 1) == 4 * drawn.count[me]);
  for (int r = 0; r < ranks; r++)
    for (int i = 0; i < drawn.count[r]; i++) {
      int at = place(&views[r], drawn.first[r] + i);
      encode(&views[r], value_of(epoch, r, i), model + at);
      if (at + 4 > length) length = at + 4;
    }
}

static void read_some(MPI_File file) {
  struct access drawn = draw_access();
  const struct view *own = &views[me];
  memset(memory, 0x5a, sizeof memory);
  int bytes = carry_out(file, &drawn, 0), stride = drawn.stride[me], there = 0;
  unsigned char expected[4], *found = (unsigned char *)memory;
  for (int i = 0; i < drawn.count[me]; i++) {
    int at = place(own, drawn.first[me] + i);
    int whole = at + 4 <= length ? 4 : at < length && !own->is_external ? length - at : 0;
    there += whole;
    int value = (int)(model[at] | model[at + 1] << 8 | model[at + 2] << 16 | (unsigned)model[at + 3] << 24);
    encode(own, value, expected);
    CHECK(!memcmp(found + 4 * i * stride, expected, whole));
    /* Behind the end of the file, and between elements, memory is as it was. */
    for (int b = whole; b < 4 * stride; b++) CHECK(found[4 * i * stride + b] == 0x5a);
  }
  CHECK(bytes == there);
}

/* Every byte of the file is the model's. */
static void compare(const char *path) {
  static unsigned char bytes[FILE_BYTES + 1];
  FILE *file = fopen(path, "rb");
  CHECK(file != NULL);
  int found = (int)fread(bytes, 1, sizeof bytes, file);
  fclose(file);
  CHECK(found == length && !memcmp(bytes, model, length));
}

/* How many accesses went by two phases. */
static MPI_T_pvar_session session;
static MPI_T_pvar_handle phases;

static void count_phases(void) {
  int provided, index, count;
  OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
  OK(MPI_T_pvar_session_create(&session));
  OK(MPI_T_pvar_get_index("file_two_phases", MPI_T_PVAR_CLASS_COUNTER, &index));
  OK(MPI_T_pvar_handle_alloc(session, index, NULL, &phases, &count));
  OK(MPI_T_pvar_start(session, phases));
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  CHECK(argc > 1 && ranks <= RANKS_MAX);
  count_phases();
  state = atoi(argv[1]) * 1000ULL + ranks;
  char path[64];
  int number = getpid();
  MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
  snprintf(path, sizeof path, "/tmp/corecast-test-random-%d", number);
  MPI_File file;
  int mode = MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE;
  OK(MPI_File_open(MPI_COMM_WORLD, path, mode, MPI_INFO_NULL, &file));
  for (int epoch = 0; epoch < EPOCHS; epoch++) {
    int is_written = draw(2);
    draw_views(is_written);
    set_view(file);
    /* Some files end in the midst of what is read. */
    if (draw(3) == 0) {
      int size = draw(FILE_BYTES);
      OK(MPI_File_set_size(file, size));
      if (size < length) memset(model + size, 0, FILE_BYTES - size);
      length = size;
    }
    for (int turn = 0; turn < 2; turn++) {
      if (is_written) write_some(file, 2 * epoch + turn);
      else read_some(file);
      /* Two ranks may write the same, one after the other. */
      MPI_Barrier(MPI_COMM_WORLD);
    }
    compare(path);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  unsigned long long two_phases;
  OK(MPI_T_pvar_read(session, phases, &two_phases));
  CHECK(ranks == 1 || argc > 2 ? two_phases == 0 : two_phases > 0);
  OK(MPI_File_close(&file));
  MPI_Finalize();
  return 0;
}

// What a disk would have if the power went now. Loaded before the C library, this keeps a copy of one directory in
// which only that is done which was synced: bytes by fdatasync or fsync of the file, names by fsync of the directory.
// PowerLossTests kill a server at any moment and go on with the copy; kill -9 alone cannot see a missing sync, because
// the system's cache outlives the process.
//
//     POWER_LOSS_ROOT  the directory; an absolute path without links
//     POWER_LOSS_DISK  an empty directory for the copy
//     POWER_LOSS_PROGRAM  the name of the program; in others, that start it, this does nothing
//
// The copy: files/N is a file as of its last sync; directories/INODE holds, as of that directory's last sync, a hard link to
// each file and a symbolic link to each directory; root leads to that of POWER_LOSS_ROOT. Whatever is there when the
// program starts counts as synced. The real syncs are left out: nothing here depends on them.

#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct range {
    off_t start;
    off_t end;
};

// A file, by whatever name. What was written since its last sync is in `ranges`.
struct file {
    struct file *next;
    dev_t device;
    ino_t inode;
    int number;
    // It was cut to this size since the last sync; beyond that the copy's bytes are void.
    off_t cut;
    struct range *ranges;
    size_t count;
    size_t capacity;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct file *files;
static int last_number;
static const char *root;
static const char *disk;

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static void fail(const char *what) {
    perror(what);
    abort();
}

static int is_watched(const char *path) {
    size_t length = strlen(root);
    return strncmp(path, root, length) == 0 && (path[length] == '/' || path[length] == 0);
}

static int path_of(int descriptor, char *path) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return is_watched(path);
}

static void copy_path(char *path, const char *kind, long long number) {
    snprintf(path, PATH_MAX, "%s/%s/%lld", disk, kind, number);
}

static struct file *known(const struct stat *status) {
    for (struct file *file = files; file; file = file->next)
        if (file->device == status->st_dev && file->inode == status->st_ino) return file;
    return NULL;
}

// A file that is new here: nothing of it is on the disk.
static struct file *add(const struct stat *status) {
    struct file *file = calloc(1, sizeof *file);
    if (!file) fail("calloc");
    *file = (struct file){.next = files, .device = status->st_dev, .inode = status->st_ino};
    file->number = ++last_number;
    file->cut = LLONG_MAX;
    files = file;
    char path[PATH_MAX];
    copy_path(path, "files", file->number);
    int copy = REAL(open)(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);
    if (copy < 0) fail(path);
    close(copy);
    return file;
}

// Its inode may be another file's from now on. The copy keeps what names lead to it.
static void forget(const struct stat *status) {
    for (struct file **place = &files; *place; place = &(*place)->next) {
        struct file *file = *place;
        if (file->device != status->st_dev || file->inode != status->st_ino) continue;
        *place = file->next;
        free(file->ranges);
        free(file);
        return;
    }
}

// The file behind a descriptor, if it is one that is watched.
static struct file *file_of(int descriptor) {
    struct stat status;
    char path[PATH_MAX];
    if (!root || fstat(descriptor, &status) || !S_ISREG(status.st_mode)) return NULL;
    struct file *file = known(&status);
    return file || !path_of(descriptor, path) ? file : add(&status);
}

static void note(struct file *file, off_t start, off_t end) {
    if (file->count && file->ranges[file->count - 1].end == start) {
        file->ranges[file->count - 1].end = end;
        return;
    }
    if (file->count == file->capacity) {
        file->capacity = file->capacity ? file->capacity * 2 : 8;
        file->ranges = realloc(file->ranges, file->capacity * sizeof *file->ranges);
        if (!file->ranges) fail("realloc");
    }
    file->ranges[file->count++] = (struct range){start, end};
}

static void copy_bytes(int from, int to, struct range range) {
    static char buffer[1 << 16];
    while (range.start < range.end) {
        size_t wanted = sizeof buffer;
        if ((off_t)wanted > range.end - range.start) wanted = range.end - range.start;
        ssize_t count = pread(from, buffer, wanted, range.start);
        if (count < 0) fail("pread");
        if (count == 0) return;  // It was cut since.
        if (REAL(pwrite)(to, buffer, count, range.start) != count) fail("pwrite");
        range.start += count;
    }
}

static void synchronize_file(struct file *file, int descriptor) {
    char path[PATH_MAX], own[64];
    struct stat status;
    copy_path(path, "files", file->number);
    // It may have been opened for writing only.
    snprintf(own, sizeof own, "/proc/self/fd/%d", descriptor);
    int from = REAL(open)(own, O_RDONLY | O_CLOEXEC);
    int to = REAL(open)(path, O_RDWR | O_CLOEXEC);
    if (from < 0 || to < 0 || fstat(to, &status)) fail(path);
    if (file->cut < status.st_size && REAL(ftruncate)(to, file->cut)) fail(path);
    for (size_t index = 0; index < file->count; index++) copy_bytes(from, to, file->ranges[index]);
    if (fstat(from, &status) || REAL(ftruncate)(to, status.st_size)) fail(path);
    file->count = 0;
    file->cut = LLONG_MAX;
    close(from);
    close(to);
}

static void directory_path(char *path, const struct stat *status) {
    copy_path(path, "directories", (long long)status->st_ino);
    if (mkdir(path, 0755) && errno != EEXIST) fail(path);
}

// Puts a name into the copy of a directory, in place of what it stood for, in one step.
static void name_entry(const char *directory, const char *name, const struct stat *status) {
    char target[PATH_MAX], aside[PATH_MAX + 16], path[PATH_MAX + NAME_MAX + 2];
    snprintf(aside, sizeof aside, "%s/.aside", directory);
    snprintf(path, sizeof path, "%s/%s", directory, name);
    if (S_ISDIR(status->st_mode)) {
        directory_path(target, status);
        if (symlink(target, aside)) fail(aside);
    } else {
        struct file *file = known(status);
        copy_path(target, "files", (file ? file : add(status))->number);
        if (REAL(link)(target, aside)) fail(aside);
    }
    if (REAL(rename)(aside, path)) fail(path);
    // Renaming one name of a file to another of the same does nothing.
    REAL(unlink)(aside);
}

static void synchronize_directory(const char *path, const struct stat *status) {
    char copy[PATH_MAX], entry_path[PATH_MAX + NAME_MAX + 2];
    struct stat entry_status;
    struct dirent *entry;
    directory_path(copy, status);
    DIR *directory = opendir(path);
    if (!directory) fail(path);
    while ((entry = readdir(directory))) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
        snprintf(entry_path, sizeof entry_path, "%s/%s", path, entry->d_name);
        if (!lstat(entry_path, &entry_status)) name_entry(copy, entry->d_name, &entry_status);
    }
    closedir(directory);
    directory = opendir(copy);
    if (!directory) fail(copy);
    while ((entry = readdir(directory))) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
        snprintf(entry_path, sizeof entry_path, "%s/%s", path, entry->d_name);
        if (!lstat(entry_path, &entry_status)) continue;
        snprintf(entry_path, sizeof entry_path, "%s/%s", copy, entry->d_name);
        REAL(unlink)(entry_path);
    }
    closedir(directory);
}

// Everything that is there at the start is on the disk.
static void take_in(const char *path) {
    struct stat status;
    char entry_path[PATH_MAX + NAME_MAX + 2];
    struct dirent *entry;
    DIR *directory = opendir(path);
    if (!directory || stat(path, &status)) fail(path);
    while ((entry = readdir(directory))) {
        struct stat found;
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
        snprintf(entry_path, sizeof entry_path, "%s/%s", path, entry->d_name);
        if (lstat(entry_path, &found)) fail(entry_path);
        if (S_ISDIR(found.st_mode)) {
            take_in(entry_path);
        } else if (S_ISREG(found.st_mode)) {
            struct file *file = known(&found);
            if (!file) file = add(&found);
            int descriptor = REAL(open)(entry_path, O_RDONLY | O_CLOEXEC);
            if (descriptor < 0) fail(entry_path);
            note(file, 0, found.st_size);
            synchronize_file(file, descriptor);
            close(descriptor);
        }
    }
    closedir(directory);
    synchronize_directory(path, &status);
}

__attribute__((constructor)) static void begin(void) {
    char path[PATH_MAX], target[PATH_MAX];
    struct stat status;
    disk = getenv("POWER_LOSS_DISK");
    const char *watched = getenv("POWER_LOSS_ROOT"), *program = getenv("POWER_LOSS_PROGRAM");
    if (!disk || !watched || !program || strcmp(program, program_invocation_short_name)) return;
    root = watched;
    snprintf(path, sizeof path, "%s/files", disk);
    if (mkdir(path, 0755)) fail(path);
    snprintf(path, sizeof path, "%s/directories", disk);
    if (mkdir(path, 0755)) fail(path);
    take_in(root);
    if (stat(root, &status)) fail(root);
    directory_path(target, &status);
    snprintf(path, sizeof path, "%s/root", disk);
    if (symlink(target, path)) fail(path);
}

// MARK: In place of the C library's functions

static int opened(int descriptor, int flags) {
    if (descriptor < 0 || !(flags & O_TRUNC)) return descriptor;
    pthread_mutex_lock(&lock);
    struct file *file = file_of(descriptor);
    if (file) {
        file->cut = 0;
        file->count = 0;
    }
    pthread_mutex_unlock(&lock);
    return descriptor;
}

int open(const char *path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = va_arg(arguments, mode_t);
    va_end(arguments);
    return opened(REAL(open)(path, flags, mode), flags);
}

int open64(const char *path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = va_arg(arguments, mode_t);
    va_end(arguments);
    return opened(REAL(open64)(path, flags, mode), flags);
}

ssize_t pwrite(int descriptor, const void *bytes, size_t size, off_t offset) {
    pthread_mutex_lock(&lock);
    ssize_t count = REAL(pwrite)(descriptor, bytes, size, offset);
    struct file *file = count > 0 ? file_of(descriptor) : NULL;
    if (file) note(file, offset, offset + count);
    pthread_mutex_unlock(&lock);
    return count;
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t size, off64_t offset) {
    return pwrite(descriptor, bytes, size, offset);
}

// The log writes at offsets; should that change, a write that is not seen would look like one that was not synced.
ssize_t write(int descriptor, const void *bytes, size_t size) {
    static __typeof__(&write) next;
    if (!next) next = REAL(write);
    char path[PATH_MAX];
    struct stat status;
    if (root && !fstat(descriptor, &status) && S_ISREG(status.st_mode) && path_of(descriptor, path)) {
        errno = ENOSYS;
        return -1;
    }
    return next(descriptor, bytes, size);
}

int ftruncate(int descriptor, off_t size) {
    pthread_mutex_lock(&lock);
    int result = REAL(ftruncate)(descriptor, size);
    struct file *file = result == 0 ? file_of(descriptor) : NULL;
    if (file && size < file->cut) file->cut = size;
    pthread_mutex_unlock(&lock);
    return result;
}

int ftruncate64(int descriptor, off64_t size) { return ftruncate(descriptor, size); }

int fsync(int descriptor) {
    struct stat status;
    char path[PATH_MAX];
    if (!root || fstat(descriptor, &status)) return REAL(fsync)(descriptor);
    pthread_mutex_lock(&lock);
    if (S_ISDIR(status.st_mode)) {
        if (path_of(descriptor, path)) synchronize_directory(path, &status);
    } else {
        struct file *file = file_of(descriptor);
        if (file) synchronize_file(file, descriptor);
    }
    pthread_mutex_unlock(&lock);
    return 0;
}

int fdatasync(int descriptor) { return fsync(descriptor); }

int rename(const char *source, const char *destination) {
    struct stat replaced;
    pthread_mutex_lock(&lock);
    int is_there = root && !lstat(destination, &replaced) && replaced.st_nlink == 1;
    int result = REAL(rename)(source, destination);
    if (result == 0 && is_there) forget(&replaced);
    pthread_mutex_unlock(&lock);
    return result;
}

int unlink(const char *path) {
    struct stat removed;
    pthread_mutex_lock(&lock);
    int is_there = root && !lstat(path, &removed) && removed.st_nlink == 1;
    int result = REAL(unlink)(path);
    if (result == 0 && is_there) forget(&removed);
    pthread_mutex_unlock(&lock);
    return result;
}

int link(const char *path, const char *name) {
    pthread_mutex_lock(&lock);
    int result = REAL(link)(path, name);
    pthread_mutex_unlock(&lock);
    return result;
}
